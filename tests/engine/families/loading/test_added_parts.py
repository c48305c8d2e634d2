"""VAE and text encoders in files of their own, in any naming, are those of a checkpoint that lacks them."""

from dataclasses import replace

import pytest
import torch
from original_files import weights
from safetensors.torch import load_file, save_file
from tiny_sd15 import write_sd15_file, write_tiny_sd15
from tiny_sdxl import write_single_file, write_tiny_sdxl

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.loading.added_parts import lacking, part_for, whole_header
from mezzotint.families.loading.networks import load_components
from mezzotint.families.model_sources import sources_of

STARTS = {
    "vae": "first_stage_model.",
    "text_encoder": "conditioner.embedders.0.transformer.",
    "text_encoder_2": "conditioner.embedders.1.model.",
}
SD15_TEXT = "cond_stage_model.transformer."


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory):
    folder = write_tiny_sdxl(tmp_path_factory.mktemp("sdxl") / "tiny")
    whole = write_single_file(folder, folder.parent / "whole.safetensors")
    return folder, whole, load_file(whole)


def without(tensors, path, *starts):
    save_file({name: each for name, each in tensors.items() if not name.startswith(starts)}, path)
    return open_checkpoint(path)


def only(tensors, start, path, begin=""):
    save_file(
        {begin + name.removeprefix(start): each for name, each in tensors.items() if name.startswith(start)}, path
    )
    return path


def loaded(checkpoint):
    """All weights of all networks."""
    sources = sources_of(checkpoint, detect(checkpoint))
    networks = [name for name, source in sources.components.items() if source.files]
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32, identity="")
    load_components(model, networks, on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda *_: None)
    states = {name: network.state_dict() for name, network in model.networks.items()}
    return {f"{name}.{key}": each for name, state in states.items() for key, each in state.items()}


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], each) for name, each in wanted.items())


def with_parts(checkpoint, *files):
    """As it is completed file by file."""
    for path in files:
        component = part_for(checkpoint, path)
        assert component is not None
        checkpoint = replace(checkpoint, parts={**checkpoint.parts, component: path})
    return checkpoint


@pytest.mark.parametrize("naming", ["original", "diffusers"])
def test_an_sdxl_network_takes_its_parts_from_files(tmp_path, sdxl, naming):
    folder, whole, tensors = sdxl
    bare = without(tensors, tmp_path / "bare.safetensors", *STARTS.values())
    assert lacking(bare.header.tensors) == ("vae", "text_encoder", "text_encoder_2")
    if naming == "original":
        files = [only(tensors, start, tmp_path / f"{name}.safetensors") for name, start in STARTS.items()]
    else:
        files = [next((folder / name).glob("*.safetensors")) for name in reversed(STARTS)]
    found = with_parts(bare, *files)
    assert lacking(whole_header(found).tensors) == ()
    assert_same(loaded(found), loaded(open_checkpoint(whole)))


@pytest.mark.parametrize("begin", ["text_model.", "text_encoders.clip_l.transformer.text_model."])
def test_stable_diffusion_15_does_too(tmp_path, begin):
    folder = write_tiny_sd15(tmp_path / "tiny")
    whole = write_sd15_file(folder, tmp_path / "whole.safetensors")
    tensors = load_file(whole)
    bare = without(tensors, tmp_path / "bare.safetensors", STARTS["vae"], SD15_TEXT)
    text = {name.removeprefix("text_model."): each for name, each in weights(folder, "text_encoder").items()}
    save_file({begin + name: each for name, each in text.items()}, tmp_path / "clip.safetensors")
    vae = only(tensors, STARTS["vae"], tmp_path / "vae.safetensors", STARTS["vae"])
    assert_same(loaded(with_parts(bare, tmp_path / "clip.safetensors", vae)), loaded(open_checkpoint(whole)))


def test_what_is_lacking_is_named_with_the_options_that_give_it(tmp_path, sdxl):
    tensors = sdxl[2]
    with pytest.raises(ModelRefused, match=r"lacks its VAE .* give what it lacks with --vae FILE, or"):
        detect(without(tensors, tmp_path / "a.safetensors", STARTS["vae"]))
    with pytest.raises(ModelRefused, match=r"lacks its first text encoder .* with --text-encoder FILE, or"):
        detect(without(tensors, tmp_path / "b.safetensors", STARTS["text_encoder"]))
    with pytest.raises(ModelRefused, match="with --vae FILE and --text-encoder FILE, or get the whole"):
        detect(without(tensors, tmp_path / "c.safetensors", *STARTS.values()))


def test_files_that_do_not_fit_are_none_of_its_parts(tmp_path, sdxl):
    folder, _, tensors = sdxl
    bare = without(tensors, tmp_path / "bare.safetensors", STARTS["vae"])
    wide = {name: each for name, each in weights(folder, "vae").items() if name != "decoder.conv_in.weight"}
    save_file(wide | {"decoder.conv_in.weight": torch.zeros(8, 16, 3, 3)}, tmp_path / "wide.safetensors")
    text = only(tensors, STARTS["text_encoder"], tmp_path / "text.safetensors")
    assert part_for(bare, tmp_path / "wide.safetensors") is None, "a VAE of 16 channels"
    assert part_for(bare, text) is None, "which it has"
    assert part_for(open_checkpoint(sdxl[1]), text) is None, "it lacks nothing"
    headless = without(tensors, tmp_path / "headless.safetensors", *STARTS.values())
    save_file({"lora": torch.zeros(1)}, tmp_path / "other.safetensors")
    assert part_for(headless, tmp_path / "other.safetensors") is None


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["model.diffusion_model.input_blocks.0.0.weight"],
        ["model.diffusion_model.middle_block.1.transformer_blocks.0.attn2.to_k.weight", "cond_stage_model.model.x"],
    ],
)
def test_other_files_lack_nothing_that_could_be_added(names):
    assert lacking(names) == ()


def test_the_refiner_lacks_no_first_text_encoder(sdxl):
    start = "model.diffusion_model."
    names = {name for name in sdxl[2] if name.startswith(start)}
    assert lacking({*names, "conditioner.embedders.0.model.text_projection"}) == ("vae",)
