"""Quantized layers come out of files as they went in, and files that make no sense are refused by layer and value."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import seeded, weights
from safetensors.torch import save_file

from mezzotint.checkpoints.header import TensorSpec, read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.layouts.stored import (
    decode_layer,
    diffusers_quantization_config,
    encode_layer,
    file_metadata,
    find_stored_layers,
)
from mezzotint.quantization.svdquant.format import SvdQuant

LAYER = "transformer_blocks.0.attn1.to_q"
INT8 = [Int8(dynamic=dynamic, group=group) for dynamic in (True, False) for group in (0, 16, 256)]
FORMATS = [*INT8, Nf4(double=False), Nf4(double=True), LowRank4(rank=4), LowRank4(rank=32, group=64, dynamic=False)]
FORMATS += [SvdQuant(rank=4, group=16), SvdQuant(rank=16, dynamic=False)]
FORMATS += [Int4(group=64), Int4(dynamic=False), Codebook4(group=64), Codebook4(dynamic=False)]
FORMATS += [Nvfp4(), Nvfp4(dynamic=False)]
FORMATS += [Fp8(by_rows=True, inputs="quantized"), Fp8(by_rows=True), Fp8(inputs="either"), Fp8()]
EACH = pytest.mark.parametrize("format_", FORMATS, ids=str)
TYPES = {torch.int8: "I8", torch.uint8: "U8", torch.float16: "F16", torch.bfloat16: "BF16", torch.float32: "F32"}
TYPES[torch.float8_e4m3fn] = "F8_E4M3"


def specs(tensors):
    """As the header of a file of these tensors has them."""
    return {
        name: TensorSpec(dtype=TYPES[tensor.dtype], shape=tuple(tensor.shape), start=0, end=tensor.nbytes)
        for name, tensor in tensors.items()
    }


def found(tensors, metadata=None):
    return find_stored_layers(specs(tensors), metadata or {}, tensors.__getitem__)


def decoded(tensors, metadata=None):
    return {layer.name: decode_layer(layer, tensors) for layer in found(tensors, metadata).values()}


def encoded(format_, weight=None, layer=LAYER):
    weight = seeded(24, 256) if weight is None else weight
    return encode_layer(layer, format_, tuple(weight.shape), format_.quantize(weight), torch.float16)


def told(tensors):
    """The name of the description, and what it says."""
    name = next(name for name in tensors if name.endswith(("_quant", "bitsandbytes__nf4")))
    return name, json.loads(tensors[name].numpy().tobytes())


def telling(tensors, **changes):
    """The same tensors with another description; None takes a key away."""
    name, description = told(tensors)
    description |= changes
    kept = {key: value for key, value in description.items() if value is not None}
    return tensors | {name: as_bytes(json.dumps(kept))}


def as_bytes(text):
    return torch.tensor(list(text.encode()), dtype=torch.uint8)


def numbers_of(tensor):
    """8-bit floats as bytes: torch does not compare them."""
    return tensor.view(torch.uint8) if tensor.dtype == torch.float8_e4m3fn else tensor


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert tensor.dtype == other[name].dtype, name
        assert numbers_of(tensor).equal(numbers_of(other[name])), name


@EACH
@given(weight=weights(columns=512, multiple=256))
def test_a_layer_comes_back_as_it_was(format_, weight):
    tensors = format_.quantize(weight)
    parts = encode_layer(LAYER, format_, weight.shape, tensors, torch.float32)
    layer = found(parts)[LAYER]
    assert (layer.name, layer.format, layer.shape) == (LAYER, format_, tuple(weight.shape))
    assert set(layer.names.values()) == set(parts)
    assert_same(decode_layer(layer, parts), tensors)


@EACH
def test_so_it_does_from_a_real_file_beside_what_is_not_quantized(format_, tmp_path):
    path, weight = tmp_path / "model.safetensors", seeded(24, 256)
    tensors = format_.quantize(weight)
    parts = encode_layer(LAYER, format_, weight.shape, tensors, torch.float16)
    plain = {f"{LAYER}.bias": seeded(24), "norm.weight": seeded(8)}
    save_file(parts | plain, path, metadata={"format": "pt"} | file_metadata({LAYER: format_}))
    header = read_header(path)
    read = dict(read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False))
    layers = find_stored_layers(header.tensors, header.metadata, read.__getitem__)
    assert {layer.name: layer.format for layer in layers.values()} == {LAYER: format_}
    assert not set(layers[LAYER].names.values()) & set(plain)
    assert_same(decode_layer(layers[LAYER], read), tensors)


def test_only_descriptions_are_read_to_find_layers():
    parts = encoded(INT8[0], layer="a") | encoded(Nf4(), layer="b") | encoded(LowRank4(rank=4), layer="c")
    asked = []

    def read(name):
        asked.append(name)
        return parts[name]

    layers = find_stored_layers(specs(parts), {}, read)
    assert {name: type(layer.format) for name, layer in layers.items()} == {"a": Int8, "b": Nf4, "c": LowRank4}
    assert sorted(asked) == ["a.comfy_quant", "b.weight.quant_state.bitsandbytes__nf4", "c.mezzotint_quant"]


def test_a_file_without_quantized_layers_has_none():
    assert found({"a.weight": seeded(3, 4), "a.weight_scale": seeded(3)}) == {}


@pytest.mark.parametrize("format_", INT8, ids=str)
def test_the_files_metadata_alone_tells_as_much(format_):
    parts = {name: part for name, part in encoded(format_).items() if not name.endswith(".comfy_quant")}
    metadata = file_metadata({LAYER: format_, "elsewhere": format_})
    assert json.loads(metadata["_quantization_metadata"])["format_version"] == "1.0"
    layers = found(parts, metadata)
    assert {name: layer.format for name, layer in layers.items()} == {LAYER: format_}
    assert_same(decode_layer(layers[LAYER], parts), decoded(encoded(format_))[LAYER])


def test_the_metadata_lists_comfyuis_layers_only():
    assert file_metadata({"a": Nf4(), "b": LowRank4()}) == {}
    listed = json.loads(file_metadata({"a": Nf4(), "b": INT8[0]})["_quantization_metadata"])
    assert list(listed["layers"]) == ["b"]


def test_a_layers_own_description_goes_before_the_files():
    layers = found(encoded(Int8(dynamic=True)), file_metadata({LAYER: Int8(dynamic=False)}))
    assert layers[LAYER].format == Int8(dynamic=True)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_single_scale_is_every_rows(shape):
    parts = encoded(Int8(dynamic=True)) | {f"{LAYER}.weight_scale": torch.full(shape, 0.25)}
    assert decoded(parts)[LAYER]["weight_scale"].equal(torch.full((24, 1), 0.25))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_scales_of_rows_may_be_flat_and_of_16_bits(dtype):
    parts = encoded(Int8(dynamic=True)) | {f"{LAYER}.weight_scale": (torch.arange(24) / 8).to(dtype)}
    assert decoded(parts)[LAYER]["weight_scale"].equal(torch.arange(24)[:, None] / 8)


def test_convolutions_are_never_dynamic_even_where_nothing_is_said():
    weight = seeded(6, 4, 3, 3)
    parts = telling(encoded(Int8(dynamic=False), weight), full_precision_matrix_mult=None)
    assert found(parts)[LAYER].format == Int8(dynamic=False)
    assert decoded(parts)[LAYER]["weight"].shape == (6, 4, 3, 3)


def test_convolutions_whose_pixels_are_rounded_say_so():
    format_, weight = Int8(dynamic=False, pixels=True), seeded(8, 64, 3, 3)
    parts = encoded(format_, weight)
    assert found(parts)[LAYER].format == format_
    assert decoded(parts)[LAYER]["weight"].equal(format_.quantize(weight)["weight"])
    with pytest.raises(ModelRefused, match="8-bit pixels need 3x3 convolutions"):
        found(telling(encoded(Int8(dynamic=False)), quantize_pixels=True))


def test_keys_that_others_add_do_not_matter():
    parts = telling(encoded(INT8[1]), orig_dtype="bfloat16", per_row=True)
    assert found(parts)[LAYER].format == INT8[1]


PLAIN, ROTATED, SINGLE, DOUBLE, OURS = INT8[0], INT8[1], Nf4(double=False), Nf4(), LowRank4(rank=4)
PACKED, CODED = Int4(group=64), Codebook4(group=256)


@pytest.mark.parametrize(
    ("format_", "changes", "why"),
    [
        (
            PLAIN,
            {"format": "convrot_w8a4"},
            "format convrot_w8a4 is not supported, only int8_tensorwise, convrot_w4a4, asym_w4a8_int8, float8_e4m3fn",
        ),
        (PLAIN, {"format": None}, "format None"),
        (PLAIN, {"format": ["int8_tensorwise"]}, "format"),
        (PLAIN, {"convrot": "false"}, "convrot false is not supported, only true or false"),
        (PLAIN, {"full_precision_matrix_mult": 1}, "full_precision_matrix_mult 1"),
        (PLAIN, {"convrot": True, "convrot_groupsize": 128}, "convrot_groupsize 128"),
        (PLAIN, {"convrot": True, "convrot_groupsize": 4.0}, "convrot_groupsize 4.0"),
        (PLAIN, {"convrot": True, "convrot_groupsize": None}, None),
        (ROTATED, {"convrot_groupsize": 10**100}, "convrot_groupsize 1000"),
        (ROTATED, {"convrot_groupsize": -4}, "convrot_groupsize -4"),
        (PACKED, {"convrot_groupsize": 128}, "convrot_groupsize 128 is not supported, only 0 or one of 4, 16"),
        (PACKED, {"convrot_groupsize": True}, "convrot_groupsize"),
        (PACKED, {"linear_dtype": "int2"}, "linear_dtype int2 is not supported, only int4 or int8"),
        (PACKED, {"linear_dtype": ["int4"]}, "linear_dtype"),
        (PACKED, {"full_precision_matrix_mult": 1}, "full_precision_matrix_mult 1"),
        (PACKED, {"convrot_groupsize": None}, None),
        (CODED, {"group_size": 32}, "group_size 32 is not supported, only 16"),
        (CODED, {"convrot": 1}, "convrot 1"),
        (CODED, {"group_size": None, "convrot": None}, None),
        (SINGLE, {"quant_type": "fp4"}, "quant_type fp4 is not supported, only nf4"),
        (SINGLE, {"blocksize": 128}, "blocksize 128"),
        (SINGLE, {"shape": [24, 255]}, "its weight is torch.uint8"),
        (SINGLE, {"shape": [24, 256, 1]}, "shape"),
        (SINGLE, {"shape": [-24, -256]}, "shape"),
        (SINGLE, {"shape": [2**62, 2**62]}, "shape"),
        (SINGLE, {"shape": [2**24, 2**24]}, "its weight is torch.uint8"),
        (SINGLE, {"shape": "24"}, "shape 24"),
        (SINGLE, {"shape": [True, 256]}, "shape"),
        (DOUBLE, {"nested_blocksize": 64}, "nested_blocksize 64"),
        (DOUBLE, {"nested_offset": None}, "nested_offset None"),
        (DOUBLE, {"nested_offset": "0.1"}, "nested_offset 0.1"),
        (DOUBLE, {"nested_offset": 10**400}, "nested_offset 1000"),
        (DOUBLE, {"nested_offset": 1e300}, "nested_offset 1e"),
        (DOUBLE, {"nested_offset": float("inf")}, "nested_offset inf"),
        (OURS, {"format": "int3"}, "format int3 is not supported, only int4_lowrank"),
        (OURS, {"rank": 5}, "its weight_down is torch.float16"),
        (OURS, {"rank": 0}, "rank 0"),
        (OURS, {"rank": 2**40}, "rank 1099511627776"),
        (OURS, {"rank": True}, "rank True"),
        (OURS, {"rank": None}, "rank None"),
        (OURS, {"group": 128}, "group 128"),
        (OURS, {"dynamic": 1}, "dynamic 1"),
        (OURS, {"dynamic": None}, None),
        (OURS, {"group": [64]}, "group"),
    ],
)
def test_descriptions_that_make_no_sense_are_refused(format_, changes, why):
    parts = telling(encoded(format_), **changes)
    if why is None:
        assert decoded(parts)
        return
    with pytest.raises(ModelRefused) as refusal:
        decoded(parts)
    assert LAYER in str(refusal.value) and why in str(refusal.value)
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 500


@EACH
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"format": NaN}', '{"a": 1, "a": 2}', "{" * 2000, "\x00", '"int8_tensorwise"']
)
def test_damaged_descriptions_are_refused(format_, text):
    parts = encoded(format_)
    name, _ = told(parts)
    with pytest.raises(ModelRefused, match=LAYER.replace(".", r"\.")):
        decoded(parts | {name: as_bytes(text)})


@EACH
def test_descriptions_are_short_and_of_bytes(format_):
    parts = encoded(format_)
    name, _ = told(parts)
    with pytest.raises(ModelRefused, match="is not a layer description"):
        decoded(parts | {name: as_bytes(" " * 5000)})
    with pytest.raises(ModelRefused, match="is not a layer description"):
        decoded(parts | {name: seeded(4)})


@EACH
def test_a_layer_that_lacks_one_of_its_tensors_is_refused_by_its_name(format_):
    parts = encoded(format_)
    description, _ = told(parts)
    optional = {"nested_absmax"} if format_ == Nf4() else set()  # without which it is quantized once: another refusal
    for name in parts.keys() - {description}:
        fewer = {other: part for other, part in parts.items() if other != name}
        with pytest.raises(ModelRefused) as refusal:
            decoded(fewer)
        assert LAYER in str(refusal.value)
        assert name in str(refusal.value) or name.rpartition(".")[2] in optional


@EACH
def test_tensors_of_another_shape_or_type_are_refused(format_):
    parts = encoded(format_)
    description, _ = told(parts)
    for name, part in parts.items():
        if name == description:
            continue
        others = [torch.cat([part.flatten(), part.flatten()]), part.flatten()[:0], part.to(torch.float16)[None]]
        for other in others[: 2 if part.numel() == 1 else 3]:  # a single number may have any dimensions
            with pytest.raises(ModelRefused, match=LAYER.replace(".", r"\.")):
                decoded(parts | {name: other})


@pytest.mark.parametrize(
    ("format_", "name"),
    [
        (PLAIN, "weight_scale"),
        (SINGLE, "weight.absmax"),
        (DOUBLE, "weight.nested_absmax"),
        (OURS, "weight_scale"),
        (OURS, "weight_down"),
        (OURS, "weight_up"),
    ],
)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(format_, name, value):
    parts = encoded(format_)
    parts[f"{LAYER}.{name}"] = parts[f"{LAYER}.{name}"].clone()
    parts[f"{LAYER}.{name}"].view(-1)[0] = value
    with pytest.raises(ModelRefused, match="contains NaN"):
        decoded(parts)


def test_scales_of_whole_numbers_are_refused():
    parts = encoded(PLAIN) | {f"{LAYER}.weight_scale": torch.ones(24, 1, dtype=torch.uint8)}
    with pytest.raises(ModelRefused, match=r"weight_scale dtype torch\.uint8"):
        decoded(parts)


def test_a_groups_scale_that_does_not_leave_8_bits_is_refused():
    parts = encoded(OURS)
    parts[f"{LAYER}.weight_group_scale"] = torch.full_like(parts[f"{LAYER}.weight_group_scale"], 18)
    with pytest.raises(ModelRefused, match="group scale 18 is not supported, only at most 17"):
        decoded(parts)


@pytest.mark.parametrize("table", ["quant_map", "nested_quant_map"])
def test_codes_for_other_values_are_refused(table):
    parts = encoded(DOUBLE)
    parts[f"{LAYER}.weight.{table}"] = parts[f"{LAYER}.weight.{table}"] * 0.99
    with pytest.raises(ModelRefused, match="code table of .* is not NF4's"):
        decoded(parts)


def test_other_kinds_of_bitsandbytes_are_refused_by_name():
    parts = {f"{LAYER}.weight": torch.zeros(4, 1, dtype=torch.uint8), f"{LAYER}.weight.quant_state.x": as_bytes("{}")}
    with pytest.raises(ModelRefused, match="layers of the type x are not supported, only nf4 and fp4"):
        found(parts)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"layers": []}', '{"layers": {"a": 1}}', '{"layers": {"a": {"format": "nvfp4"}}}']
)
def test_damaged_metadata_is_refused(text):
    with pytest.raises(ModelRefused):
        found({"a.weight": torch.zeros(4, 4, dtype=torch.int8)}, {"_quantization_metadata": text})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_whatever_a_description_says_it_is_understood_or_refused(value):
    for format_ in (ROTATED, DOUBLE, OURS):
        parts = encoded(format_)
        _, description = told(parts)
        for key in description:
            changed = telling(parts, **{key: value})
            try:
                result = decoded(changed)
            except ModelRefused:
                continue
            assert result[LAYER].keys() == format_.part_specs((24, 256)).keys()


def test_what_diffusers_is_told_of_the_layers():
    config = diffusers_quantization_config({"a": Nf4(), "b": Nf4()}, ["proj_out"])
    assert config["bnb_4bit_use_double_quant"] is True and config["llm_int8_skip_modules"] == ["proj_out"]
    assert diffusers_quantization_config({"a": Nf4(double=False)}, [])["bnb_4bit_use_double_quant"] is False


def test_comfyui_s_layers_in_4_bits():
    """Its tensors are called I8, and the row scales are a vector."""
    parts = encoded(PACKED)
    assert parts[f"{LAYER}.weight"].dtype == torch.int8 and parts[f"{LAYER}.weight_scale"].shape == (24,)
    assert told(parts)[1] == {"format": "convrot_w4a4", "convrot_groupsize": 64}
    layer = found(telling(parts, quant_group_size=64, linear_dtype="int4"))[LAYER]
    assert (layer.format, layer.shape) == (PACKED, (24, 256))
    assert found(telling(parts, linear_dtype="int8"))[LAYER].format == Int4(dynamic=False, group=64)
    metadata = file_metadata({LAYER: PACKED})
    bare = {name: each for name, each in parts.items() if name != told(parts)[0]}
    assert found(bare, metadata)[LAYER].format == PACKED


@pytest.mark.parametrize(
    ("name", "tensor", "why"),
    [
        ("weight", torch.zeros(24, 128), "weight F32"),
        ("weight", torch.zeros(24, 128, 1, dtype=torch.int8), "of 2 dimensions"),
        ("weight", torch.zeros(0, 128, dtype=torch.int8), "weight_scale shape"),
        ("weight", torch.zeros(24, 100, dtype=torch.int8), "200 columns are not a multiple of the rotation's group"),
        ("weight_scale", torch.ones(23), "weight_scale shape"),
        ("weight_scale", torch.ones(1), "weight_scale shape"),
        ("weight_scale", torch.ones(24, dtype=torch.int8), "weight_scale dtype"),
        ("weight_scale", torch.full((24,), float("nan")), "its weight_scale contains NaN or infinity"),
    ],
)
def test_layers_in_4_bits_of_other_sizes_are_refused(name, tensor, why):
    with pytest.raises(ModelRefused, match=why):
        decoded(encoded(PACKED) | {f"{LAYER}.{name}": tensor})


def test_comfyui_s_layers_with_a_codebook():
    """Its names of the scales; without a description in the file, its metadata says what they are."""
    parts = encoded(CODED)
    assert {name.removeprefix(f"{LAYER}."): tuple(each.shape) for name, each in parts.items() if "weight" in name} == {
        "weight": (24, 128),
        "weight_s_channel": (24,),
        "weight_s_rel": (24, 16),
        "weight_codebook": (16,),
    }
    assert told(parts)[1] == {"format": "asym_w4a8_int8", "group_size": 16, "convrot": True, "convrot_groupsize": 256}
    bare = {name: each for name, each in parts.items() if name != told(parts)[0]}
    assert found(bare, file_metadata({LAYER: CODED}))[LAYER].format == CODED


@pytest.mark.parametrize(
    ("name", "tensor", "why"),
    [
        ("weight", torch.zeros(24, 128), "weight F32"),
        ("weight_s_channel", torch.ones(23), "weight_s_channel F32"),
        ("weight_s_channel", torch.ones(24).half(), "weight_s_channel F16"),
        ("weight_s_rel", torch.zeros(24, 15, dtype=torch.uint8), "weight_s_rel U8"),
        ("weight_s_rel", torch.full((24, 16), 255, dtype=torch.uint8), "weight_group_scale contains NaN"),
        ("weight_codebook", torch.zeros(15), "weight_codebook F32"),
        ("weight_codebook", torch.full((16,), float("inf")), "weight_codebook contains NaN or infinity"),
        ("weight_correction", torch.zeros(16, 24), "weight_correction"),
    ],
)
def test_layers_with_other_codebooks_are_refused(name, tensor, why):
    with pytest.raises(ModelRefused, match=why):
        decoded(encoded(CODED) | {f"{LAYER}.{name}": tensor})
