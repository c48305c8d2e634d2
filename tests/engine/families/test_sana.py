"""Sana's files with original names: those of published sizes, which diffusers reads as well, and what is refused."""

from typing import Any

import diffusers
import pytest
import tiny_sana
import torch
from diffusers.loaders import single_file_utils as peer
from original_files import weights, write, write_split
from published_sizes import empty, header_of

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import ModelRefused
from mezzotint.families.flow.files import part_of_file
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.loading.original_names import Placement
from mezzotint.families.sana.names import SPRINT, TRANSFORMER
from mezzotint.families.sana.parts import DC_AE, DC_AE_DIFFUSERS, GEMMA2
from mezzotint.families.tokenizers.gemma import TENSOR
from mezzotint.protocol import ModelRef

# Of scripts/convert_sana_to_diffusers.py in diffusers.
LARGE = {"num_attention_heads": 70, "num_cross_attention_heads": 20, "cross_attention_head_dim": 112}
LARGE |= {"cross_attention_dim": 2240, "num_layers": 20, "sample_size": 32, "interpolation_scale": None}
SMALL = {"num_attention_heads": 36, "num_cross_attention_heads": 16, "cross_attention_head_dim": 72}
SMALL |= {"cross_attention_dim": 1152, "num_layers": 28, "sample_size": 16, "interpolation_scale": None}
NORMED = {"qk_norm": "rms_norm_across_heads"}
SIZES: dict[str, dict[str, Any]] = {
    "1.6B": LARGE,
    "0.6B": SMALL,
    "2K": LARGE | {"sample_size": 64, "interpolation_scale": 1.0},
    "4K": LARGE | {"sample_size": 128, "interpolation_scale": 2.0},
    "1.5, 4.8B": LARGE | NORMED | {"num_layers": 60},
    "Sprint, 0.6B": SMALL | NORMED | {"sample_size": 32, "guidance_embeds": True},
    "Sprint, 1.6B": LARGE | NORMED | {"guidance_embeds": True},
}
# Of scripts/convert_dcae_to_diffusers.py in diffusers.
SCALES = [[], [], [], [5], [5], [5]]
KINDS = ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3
AUTOENCODER = {
    "latent_channels": 32,
    "encoder_block_types": KINDS,
    "decoder_block_types": KINDS,
    "encoder_block_out_channels": [128, 256, 512, 512, 1024, 1024],
    "decoder_block_out_channels": [128, 256, 512, 512, 1024, 1024],
    "encoder_layers_per_block": [2, 2, 2, 3, 3, 3],
    "decoder_layers_per_block": [3, 3, 3, 3, 3, 3],
    "encoder_qkv_multiscales": SCALES,
    "decoder_qkv_multiscales": SCALES,
    "downsample_block_type": "conv",
    "upsample_block_type": "interpolate",
    "scaling_factor": 0.41407,
}


def shapes_of(tensors):
    return {name: each.shape for name, each in tensors.items()}


def placed(network, tensors):
    """The state dict that placing tensor by tensor makes."""
    made = {}
    for name, tensor in tensors.items():
        for new, form in network.place(name):
            made[new] = Placement(component="", name=new, form=form).take(tensor)
    return made


def assert_same(ours, theirs):
    for name, tensor in theirs.items():
        assert torch.equal(ours[name].reshape(tensor.shape), tensor), name


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("size", SIZES)
def test_the_configuration_of_published_transformers_is_seen_in_their_shapes(size):
    config = SIZES[size]
    published = empty(diffusers.SanaTransformer2DModel, config).state_dict()
    named = tiny_sana.original_transformer(published, config["sample_size"])
    network = SPRINT if config.get("guidance_embeds") else TRANSFORMER
    part = part_of_file("transformer", network, header_of(shapes_of(named)))
    assert {key: part.config.get(key) for key in config} == config
    assert shapes_of(empty_network(part).state_dict()) == shapes_of(published)


@pytest.mark.parametrize("named", [True, False])
def test_the_configuration_of_the_published_autoencoder_too(named):
    published = empty(diffusers.AutoencoderDC, AUTOENCODER).state_dict()
    tensors = published if named else tiny_sana.original_autoencoder(published)
    part = part_of_file("vae", DC_AE_DIFFUSERS if named else DC_AE, header_of(shapes_of(tensors)))
    assert {key: part.config.get(key) for key in AUTOENCODER} == AUTOENCODER
    assert shapes_of(empty_network(part).state_dict()) == shapes_of(published)


def test_the_configuration_of_the_published_text_encoder_too():
    from transformers import Gemma2Config, Gemma2Model

    config = Gemma2Config()  # of Gemma 2 9B
    sizes = {"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26}
    sizes |= {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}  # of google/gemma-2-2b-it
    published = empty(Gemma2Model, sizes).state_dict()
    part = part_of_file("text_encoder", GEMMA2, header_of({f"model.{k}": v for k, v in shapes_of(published).items()}))
    assert {key: part.config.get(key) for key in sizes} == sizes
    told = {key: getattr(config, key) for key in part.config if key not in sizes and key != "architectures"}
    assert {key: part.config[key] for key in told} == told
    assert shapes_of(empty_network(part).state_dict()) == shapes_of(published)


def test_tensors_go_where_diffusers_puts_them():
    torch.manual_seed(0)
    tensors = tiny_sana.original_transformer(tiny_sana.transformer(**tiny_sana.PUBLISHED_HEADS).state_dict(), 4)
    assert_same(placed(TRANSFORMER, tensors), peer.convert_sana_transformer_to_diffusers(dict(tensors)))
    tensors = tiny_sana.original_autoencoder(tiny_sana.deep_autoencoder().state_dict())
    assert_same(placed(DC_AE, tensors), peer.convert_autoencoder_dc_checkpoint_to_diffusers(dict(tensors)))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sana") / "model"
    return tiny_sana.split_files(tiny_sana.write_tiny_sana(folder, **tiny_sana.PUBLISHED_HEADS))


def found(path):
    return Catalog.standard().find(ModelRef(id=str(path)))


def sources_of(model):
    return family_of(model.info.family).sources(model.checkpoint, model.detected)


def test_the_variant_of_a_file_is_seen_in_its_position_embeddings(files, tmp_path):
    first = next(iter(files))
    for side, variant, shift in ((16, "512", 3.0), (32, "1024", 3.0), (128, "4096", 6.0), (33, "1024", 3.0)):
        changed = {**files, first: files[first] | {"pos_embed": torch.zeros(1, side**2, 224)}}
        model = found(write_split(tmp_path / str(side), changed))
        assert (model.info.family, model.info.variant) == ("sana", variant)
        assert sources_of(model).scheduler["flow_shift"] == shift


def test_sprint_is_seen_in_the_embedder_of_its_scale(tmp_path):
    folder = tiny_sana.write_tiny_sprint(tmp_path / "folder", **tiny_sana.PUBLISHED_HEADS)
    model = found(write_split(tmp_path / "models", tiny_sana.split_files(folder)))
    assert (model.info.family, model.info.defaults.sampler, model.info.guidance) == ("sana-sprint", "lcm", "embedded")
    assert found(folder).info.defaults.sampler == "lcm"


def test_the_gemma_of_lumina_is_no_other(files, tmp_path):
    """It is of the same shapes, and was not trained on instructions."""
    renamed = {name.replace("gemma_2_2b_it_elm_bf16", "gemma_2_2b_fp16"): each for name, each in files.items()}
    with pytest.raises(ModelRefused, match="put gemma_2_2b_it_elm_bf16.safetensors beside it"):
        found(write_split(tmp_path / "models", renamed))


def test_a_gemma_3_is_no_other(files, tmp_path):
    name = list(files)[1]
    other = files[name] | {"model.layers.0.self_attn.q_norm.weight": torch.zeros(256)}
    with pytest.raises(ModelRefused, match="a text encoder of Gemma 2 was not found that fits"):
        found(write_split(tmp_path / "models", {**files, name: other}))


def test_a_text_encoder_without_a_tokenizer_is_told_where_to_get_it(files, tmp_path):
    name = list(files)[1]
    bare = {key: each for key, each in files[name].items() if key != TENSOR}
    transformer = write_split(tmp_path / "models", {**files, name: bare})
    with pytest.raises(ModelRefused, match=r"has no tokenizer: .* put tokenizer\.model of .*gemma-2-2b-it beside it"):
        found(transformer)
    (tmp_path / "models" / name).with_name("tokenizer.model").write_bytes(tiny_sana.pieces())
    assert found(transformer).info.problem is None


def test_transformers_of_unknown_heads_and_without_position_embeddings_are_refused(files, tmp_path):
    first = next(iter(files))
    bare = {key: each for key, each in files[first].items() if key != "pos_embed"}
    with pytest.raises(ModelRefused, match=r"not laid out as Sana's transformer is \('pos_embed'\)"):
        found(write(tmp_path / "bare.safetensors", bare))
    odd = files[first] | {"x_embedder.proj.weight": torch.zeros(100, 32, 1, 1)}
    with pytest.raises(ModelRefused, match="its width is 100"):
        found(write(tmp_path / "odd.safetensors", odd))


def test_an_autoencoder_in_todays_names_is_read_too(files, tmp_path):
    folder = tiny_sana.write_tiny_sana(tmp_path / "folder", **tiny_sana.PUBLISHED_HEADS)
    name = list(files)[2]
    mine = found(write_split(tmp_path / "models", {**files, name: weights(folder, "vae")}))
    theirs = found(write_split(tmp_path / "originals", files))
    configs = [sources_of(model).components["vae"].config for model in (mine, theirs)]
    assert configs[0] == {key: each for key, each in configs[1].items() if "shortcut" not in key}


def test_a_pickle_is_refused_with_the_usual_advice(tmp_path):
    torch.save({"state_dict": {"x_embedder.proj.weight": torch.zeros(1)}}, tmp_path / "Sana_1600M_1024px.pth")
    with pytest.raises(ModelRefused, match="safetensors"):
        found(tmp_path / "Sana_1600M_1024px.pth")
