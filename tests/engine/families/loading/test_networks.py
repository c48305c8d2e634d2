"""Weights into networks: everything in its place, and files that do not fit told by name."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import component_dtype, load_components


def loaded(folder, names, dtype=torch.float32, cancelled=lambda: False, seen=None):
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=dtype)
    count = seen if seen is not None else []
    load_components(
        model, names, on_bytes=lambda name, n: count.append((name, n)), cancelled=cancelled, notify=lambda _: None
    )
    return model


@pytest.fixture
def pixart(tiny_pixart_folder, tmp_path):
    return shutil.copytree(tiny_pixart_folder, tmp_path / "model")


def change(path, how):
    tensors = load_file(path)
    how(tensors)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


VAE = "vae/diffusion_pytorch_model.safetensors"


def test_every_parameter_is_the_files_own(tiny_pixart_folder):
    model = loaded(tiny_pixart_folder, ["vae", "transformer", "text_encoder", "tokenizer"])
    for name, file in (("vae", VAE), ("text_encoder", "text_encoder/model.safetensors")):
        held = model.networks[name].state_dict()
        for key, tensor in load_file(tiny_pixart_folder / file).items():
            assert torch.equal(held[key], tensor)
    assert not any(p.is_meta or p.requires_grad for n in model.networks.values() for p in n.parameters())
    assert not any(network.training for network in model.networks.values())


def test_bytes_are_counted_once_each(tiny_single_file):
    seen = []
    model = loaded(tiny_single_file, ["unet", "vae", "text_encoder", "text_encoder_2"], seen=seen)
    for name in ("unet", "vae", "text_encoder", "text_encoder_2"):
        counted = sum(count for component, count in seen if component == name)
        assert counted == model.sources.components[name].bytes
        held = sum(parameter.nbytes for parameter in model.networks[name].parameters())
        assert counted == held
    assert {name for name, _ in seen} == {"unet", "vae", "text_encoder", "text_encoder_2"}


def test_formats_that_overflow_are_avoided(tiny_pixart_folder):
    model = loaded(tiny_pixart_folder, ["vae", "transformer", "text_encoder"], dtype=torch.float16)
    kinds = {name: next(network.parameters()).dtype for name, network in model.networks.items()}
    assert kinds["transformer"] == torch.float16
    assert kinds["text_encoder"] == torch.float32  # T5 overflows in float16
    assert kinds["vae"] == torch.float16  # its configuration says force_upcast, so its activations are scaled down


def test_names_of_older_libraries(tiny_sdxl_folder, pixart, tmp_path):
    """Attention blocks of a VAE were once linear layers of other names, or 1x1 convolutions."""

    def older(tensors):
        for new, old in (("to_q", "query"), ("to_k", "key"), ("to_v", "value"), ("to_out.0", "proj_attn")):
            for name in [name for name in tensors if f".{new}." in name]:
                tensor = tensors.pop(name)
                tensors[name.replace(new, old)] = tensor[..., None, None] if tensor.ndim == 2 else tensor

    before = loaded(pixart, ["vae"]).networks["vae"].state_dict()
    change(pixart / VAE, older)
    after = loaded(pixart, ["vae"]).networks["vae"].state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_prefix_that_comes_and_goes(tiny_sdxl_folder, tmp_path):
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    path = folder / "text_encoder" / "model.safetensors"
    before = loaded(folder, ["text_encoder"]).networks["text_encoder"].state_dict()

    def other_prefix(tensors):
        for name in list(tensors):
            tensor = tensors.pop(name)
            prefixed = name.startswith("text_model.")
            tensors[name.removeprefix("text_model.") if prefixed else f"text_model.{name}"] = tensor

    change(path, other_prefix)
    after = loaded(folder, ["text_encoder"]).networks["text_encoder"].state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_missing_tensor_is_named(pixart):
    change(pixart / VAE, lambda tensors: tensors.pop("decoder.conv_in.weight"))
    with pytest.raises(ModelRefused, match=r"1 tensors of vae are missing.*decoder\.conv_in\.weight"):
        loaded(pixart, ["vae"])


def test_a_tensor_of_another_shape_is_named(pixart):
    change(pixart / VAE, lambda tensors: tensors.update({"decoder.conv_in.bias": torch.zeros(5)}))
    with pytest.raises(ModelRefused, match=r"decoder\.conv_in\.bias.*\(5,\)"):
        loaded(pixart, ["vae"])


@pytest.mark.parametrize(
    ("component", "setting", "message"),
    [
        ("transformer", {"sample_size": 10**9}, "sample_size 1000000000"),
        ("transformer", {"num_layers": 1_000_000}, "num_layers is 1000000"),
        ("transformer", {"num_attention_heads": 0}, "has shape"),
        ("vae", {"block_out_channels": ["a", "b"]}, "describes no network"),
        ("text_encoder", {"d_model": "wide"}, "describes no network"),
    ],
)
def test_a_configuration_of_no_network(pixart, component, setting, message):
    path = pixart / component / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | setting))
    with pytest.raises(ModelRefused, match=message):
        loaded(pixart, [component])


def test_stopped_between_tensors(tiny_pixart_folder):
    seen = []
    with pytest.raises(Cancelled):
        loaded(tiny_pixart_folder, ["transformer"], cancelled=lambda: len(seen) >= 3, seen=seen)
    assert len(seen) == 3


def test_a_tokenizer_is_read_once_wherever_it_is(pixart, tmp_path):
    first = loaded(pixart, ["tokenizer"]).tokenizers["tokenizer"]
    copied = shutil.copytree(pixart, tmp_path / "copied")
    assert loaded(copied, ["tokenizer"]).tokenizers["tokenizer"] is first
    (copied / "tokenizer" / "notes.txt").write_text("another")
    assert loaded(copied, ["tokenizer"]).tokenizers["tokenizer"] is not first
    for path in (copied / "tokenizer").iterdir():
        path.unlink()
    (copied / "tokenizer").rmdir()
    with pytest.raises(ModelRefused, match="tokenizer"):
        loaded(copied, ["tokenizer"])


def test_a_tokenizer_that_is_none(pixart):
    (pixart / "tokenizer" / "tokenizer.json").write_text('{"version": "1.0"}')
    with pytest.raises(ModelRefused, match="tokenizer cannot be read"):
        loaded(pixart, ["tokenizer"])


def test_parts_of_different_models(pixart):
    path = pixart / "vae" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"latent_channels": 8}))
    with pytest.raises(ModelRefused, match="takes 4 channels, its vae makes 8"):
        loaded(pixart, ["vae"])


def test_a_vae_that_overflows_and_cannot_be_scaled_is_upcast(tiny_pixart_folder):
    vae = loaded(tiny_pixart_folder, []).sources.components["vae"]
    attending = {"up_block_types": ["AttnUpDecoderBlock2D"]}
    assert component_dtype(replace(vae, config=attending), torch.float16) == torch.float32
    assert component_dtype(replace(vae, config={**attending, "force_upcast": False}), torch.float16) == torch.float16
    assert component_dtype(replace(vae, config={}), torch.float16) == torch.float16


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_ends_is_no_fault_of_the_configuration(tiny_pixart_folder, monkeypatch, error):
    def construct(_):
        raise error

    monkeypatch.setattr("mezzotint.families.loading.networks._construct", construct)
    with pytest.raises(type(error)):
        loaded(tiny_pixart_folder, ["vae"])
