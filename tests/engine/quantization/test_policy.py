"""Which layers are quantized and how: what is sensitive stays, and what a scheme does not fit gets the next best."""

import pytest

from mezzotint.errors import ModelRefused
from mezzotint.protocol import SCHEMES
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.formats import Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.policy import Choice, LayerShape, can_quantize, formats_for
from mezzotint.quantization.svdquant.format import SvdQuant

UNET = {
    "conv_in": (320, 4, 3, 3),
    "time_embedding.linear_1": (1280, 320),
    "add_embedding.linear_2": (1280, 1280),
    "down_blocks.1.resnets.0.time_emb_proj": (640, 1280),
    "down_blocks.1.resnets.0.conv1": (640, 320, 3, 3),
    "down_blocks.1.attentions.0.proj_in": (640, 640),
    "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q": (640, 640),
    "down_blocks.1.attentions.0.transformer_blocks.0.attn2.to_k": (640, 2048),
    "down_blocks.1.attentions.0.transformer_blocks.0.attn2.to_v": (640, 2048),
    "conv_out": (4, 320, 3, 3),
}
CONV, TO_Q, TO_K = list(UNET)[4], list(UNET)[6], list(UNET)[7]
TO_V = list(UNET)[8]


def chosen(class_name, layers, **choice):
    shapes = tuple(LayerShape(name=name, shape=shape) for name, shape in layers.items())
    return formats_for(class_name, shapes, Choice(**choice))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ends_embedders_and_modulation_of_a_unet_stay_as_they_are(scheme):
    formats = chosen("UNet2DConditionModel", UNET, scheme=scheme)
    assert set(formats) == {CONV, "down_blocks.1.attentions.0.proj_in", TO_Q, TO_K, TO_V}
    assert formats[CONV] == Int8(dynamic=False)
    assert all(format_.shape_problem(UNET[name]) is None for name, format_ in formats.items())


@pytest.mark.parametrize(
    ("scheme", "wanted"),
    [
        ("int8", Int8(dynamic=True, group=64)),
        ("int8-weight", Int8(dynamic=False, group=64)),
        ("int4", Nf4(double=True)),
        ("int4-lowrank", LowRank4(rank=32, group=64)),
        ("int4-rot", Int4(group=64)),
        ("svdquant", SvdQuant(rank=32, group=64)),
        ("fp8", Fp8(by_rows=True, inputs="quantized")),
        ("nvfp4", Nvfp4()),
    ],
)
def test_linear_layers_are_of_the_scheme_with_the_largest_rotation_that_fits(scheme, wanted):
    layers = {TO_Q: (640, 640)}
    assert chosen("UNet2DConditionModel", layers, scheme=scheme)[TO_Q] == wanted
    assert wanted.scheme == scheme


def test_inputs_of_keys_and_values_of_words_are_never_rounded():
    for scheme in SCHEMES:
        formats = chosen("UNet2DConditionModel", UNET, scheme=scheme)
        assert formats[TO_K] == formats[TO_V]
        assert not getattr(formats[TO_K], "dynamic", False)


def test_what_a_person_turns_off_is_off():
    kept = chosen("UNet2DConditionModel", UNET, scheme="int4-lowrank", rotate=False, rank=8, convolutions=False)
    assert CONV not in kept and kept[TO_Q] == LowRank4(rank=8, group=0)
    assert chosen("UNet2DConditionModel", UNET, scheme="int4", double=False)[TO_Q] == Nf4(double=False)


def test_pixels_are_rounded_only_if_asked_for_and_where_kernels_can():
    layers = UNET | {"mid.conv1": (640, 48, 3, 3), "mid.conv_shortcut": (640, 64, 1, 1)}
    formats = chosen("UNet2DConditionModel", layers, scheme="int8", int8_convolutions=True)
    assert formats[CONV] == Int8(dynamic=False, pixels=True) and formats[CONV].scheme == "int8"
    assert formats["mid.conv1"] == formats["mid.conv_shortcut"] == Int8(dynamic=False)
    assert chosen("UNet2DConditionModel", layers, scheme="fp8", int8_convolutions=True)[CONV] == Int8(dynamic=False)


def test_where_the_scheme_does_not_fit_the_next_best_does():
    layers = {TO_Q: (640, 640), "mid_block.odd.to_q": (640, 100)}
    formats = chosen("UNet2DConditionModel", layers, scheme="int4-lowrank")
    assert formats["mid_block.odd.to_q"] == Int8(dynamic=True, group=0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pure_choices_are_of_the_scheme_alone(scheme):
    formats = chosen("UNet2DConditionModel", UNET, scheme=scheme, single_format=True, convolutions=False)
    assert formats and {format_.scheme for format_ in formats.values()} == {scheme}


@pytest.mark.parametrize(("side", "rank"), [(1280, 32), (640, 32), (320, 16)])
def test_a_branch_is_as_wide_as_pays(side, rank):
    format_ = chosen("PixArtTransformer2DModel", {"blocks.0.ff": (side, side)}, scheme="int4-lowrank")["blocks.0.ff"]
    assert format_.rank == rank
    ours, plain = (
        sum(tensor.bytes for tensor in each.part_specs((side, side)).values()) for each in (format_, Int8(dynamic=True))
    )
    assert ours < 0.9 * plain


def test_modulation_and_ends_of_pixart_stay_as_they_are():
    layers = dict.fromkeys(
        ("pos_embed.proj", "adaln_single.linear", "caption_projection.linear_1", "proj_out", "transformer_blocks.0.ff"),
        (64, 64),
    )
    assert set(chosen("PixArtTransformer2DModel", layers, scheme="int8")) == {"transformer_blocks.0.ff"}


@pytest.mark.parametrize(("depth", "kept"), [(12, {0, 11}), (6, {0, 5}), (3, set())])
@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("CLIPTextModel", "text_model.encoder.layers.{}.mlp.fc1"),
        ("CLIPTextModelWithProjection", "text_model.encoder.layers.{}.self_attn.q_proj"),
        ("T5EncoderModel", "encoder.block.{}.layer.0.SelfAttention.q"),
    ],
)
def test_the_ends_of_a_text_encoder_stay_where_it_is_deep(class_name, name, depth, kept):
    layers = {name.format(number): (64, 64) for number in range(depth)} | {"text_projection": (64, 64)}
    formats = chosen(class_name, layers, scheme="int8")
    assert {number for number in range(depth) if name.format(number) not in formats} == kept
    assert ("text_projection" in formats) is (class_name != "CLIPTextModelWithProjection")


def test_networks_of_other_classes_are_refused():
    assert can_quantize("T5EncoderModel") and not can_quantize("AutoencoderKL")
    with pytest.raises(ModelRefused, match="AutoencoderKL cannot be quantized; these can: UNet2D"):
        chosen("AutoencoderKL", UNET, scheme="int8")


@pytest.mark.parametrize("layers", [{}, {"conv_in": (4, 4, 3, 3)}, {CONV: (4, 4, 3, 3)}, {TO_Q: (10, 10)}])
def test_a_scheme_that_fits_no_layer_is_refused(layers):
    with pytest.raises(ModelRefused, match="no layer of UNet2DConditionModel can be quantized to int4-lowrank"):
        chosen("UNet2DConditionModel", layers, scheme="int4-lowrank")


def test_layers_in_4_bits_that_comfyui_cannot_rotate_are_left_out():
    layers = {TO_Q: (640, 640), TO_K: (640, 48)}
    formats = chosen("UNet2DConditionModel", layers, scheme="int4-rot", single_format=True)
    assert formats == {TO_Q: Int4(group=64)}
