"""Nunchaku's layers are read as they were written, number by number, and files that make no sense are refused."""

import re

import pytest
import torch
from nunchaku_files import SHIFT, modulation, own_layer, rows_of, side_by_side, split_layer, stored
from quantized_weights import seeded

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.errors import ModelRefused
from mezzotint.quantization.gguf_blocks import GgufBlocks
from mezzotint.quantization.layouts.nunchaku import why_unreadable
from mezzotint.quantization.layouts.stored import decode_layer, find_stored_layers
from mezzotint.quantization.svdquant.format import SvdQuant

BLOCK, SINGLE = "transformer_blocks.0", "single_transformer_blocks.0"
TYPES = {torch.int8: "I8", torch.int32: "I32", torch.float16: "F16", torch.bfloat16: "BF16"}
TYPES |= {torch.float32: "F32", torch.float8_e4m3fn: "F8_E4M3"}
DTYPES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


def specs(tensors):
    """As the header of a file of these tensors has them."""
    return {
        name: TensorSpec(dtype=TYPES[each.dtype], shape=tuple(each.shape), start=0, end=each.nbytes)
        for name, each in tensors.items()
    }


def decoded(tensors):
    return {name: decode_layer(each, tensors) for name, each in find_stored_layers(specs(tensors), {}, {}.get).items()}


def written(n=128, k=256, dtype=torch.float16, rank=32, *, seed=0, after_gelu=False):
    generator = torch.Generator().manual_seed(seed)
    weight, bias = torch.randn(n, k, generator=generator) / 8, torch.randn(n, generator=generator)
    return weight, bias, split_layer(weight, bias, dtype, rank, generator, after_gelu=after_gelu)


@DTYPES
def test_a_layer_is_read_number_by_number(dtype):
    weight, _, split = written(384, 256, dtype)
    (found,) = decoded(stored(f"{BLOCK}.qkv_proj", split)).values()
    own = own_layer("a", split)
    assert found.pop("bias").equal(own["a.bias"])
    assert {f"a.{name}" for name in found} < own.keys()
    assert all(tensor.equal(own[f"a.{name}"]) for name, tensor in found.items())
    whole = SvdQuant(rank=32).dequantize(found, weight.shape, torch.float32)
    assert (whole - weight).abs().max() < 0.2 * weight.abs().max()
    assert not rows_of(split, 1, 3)["codes"].equal(split["codes"][:128])


@DTYPES
def test_a_layer_after_a_gelu_gives_what_nunchaku_gives_of_shifted_inputs(dtype):
    _, _, split = written(dtype=dtype, after_gelu=True)
    ((name, layer),) = find_stored_layers(specs(tensors := stored(f"{BLOCK}.mlp_fc2", split)), {}, {}.get).items()
    found = decode_layer(layer, tensors)
    assert name == f"{BLOCK}.mlp_fc2" and layer.format == SvdQuant(rank=32, dynamic=False)
    x = seeded(5, 256)
    groups = (split["codes"].view(128, 4, 64) * split["scale"].float()[:, :, None]).flatten(1)
    theirs = (x + SHIFT) / split["smooth"].float() @ groups.t() + split["bias"].float()
    theirs += x @ split["down"].float() @ split["up"].float().t()
    mine = layer.format.product(x, found, torch.Size(layer.shape)) + found["bias"]
    torch.testing.assert_close(mine, theirs, atol=1e-4 if dtype == torch.float16 else 2e-3, rtol=0)


def test_two_layers_whose_outputs_are_added_are_one():
    first, second = written(k=128)[2], written(k=384, seed=1, after_gelu=True)[2]
    tensors = stored(f"{SINGLE}.out_proj", first) | stored(f"{SINGLE}.mlp_fc2", second)
    found, own = decoded(tensors), own_layer("a", side_by_side(first, second))
    assert list(found) == [f"{SINGLE}.proj_out"]
    parts = found[f"{SINGLE}.proj_out"]
    torch.testing.assert_close(parts.pop("bias"), own["a.bias"])
    assert all(tensor.equal(own[f"a.{name}"]) for name, tensor in parts.items())


@DTYPES
@pytest.mark.parametrize(("part", "chunks"), [("norm1.linear", 6), ("norm1_context.linear", 6), ("norm.linear", 3)])
def test_modulation_is_exact_in_our_order(part, chunks, dtype):
    name = f"{SINGLE if chunks == 3 else BLOCK}.{part}"
    parts, plain = modulation(seeded(96, 128), seeded(1, 96)[0], chunks, dtype)
    found = decoded({f"{name}.{part}": each for part, each in parts.items()})[name]
    torch.testing.assert_close(found["bias"], plain["bias"], atol=1e-6, rtol=0)
    whole = GgufBlocks(kind="Q4_1").dequantize(found, torch.Size((96, 128)), torch.float32)
    torch.testing.assert_close(whole, plain["weight"], atol=1e-6, rtol=1e-6)


def test_layers_without_biases_have_none_but_of_the_shift():
    tensors = stored(f"{BLOCK}.mlp_fc1", written()[2]) | stored(f"{BLOCK}.mlp_fc2", written(after_gelu=True)[2])
    parts, _ = modulation(seeded(96, 128), seeded(1, 96)[0], 6, torch.float16)
    tensors |= {f"{BLOCK}.norm1.linear.{part}": each for part, each in parts.items()}
    found = decoded({name: each for name, each in tensors.items() if not name.endswith(".bias")})
    assert {name for name, each in found.items() if "bias" in each} == {f"{BLOCK}.mlp_fc2"}


LAYER, NORM = f"{BLOCK}.qkv_proj", f"{BLOCK}.norm1.linear"


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        (f"{LAYER}.qweight", torch.zeros(100, 128, dtype=torch.int8), r"I8 \(100, 128\) .* multiple of 128 rows"),
        (f"{LAYER}.qweight", torch.zeros(128, 96, dtype=torch.int8), r"qweight I8 \(128, 96\)"),
        (f"{LAYER}.qweight", torch.zeros(0, 128, dtype=torch.int8), r"qweight I8 \(0, 128\)"),
        (f"{LAYER}.qweight", torch.zeros(128, dtype=torch.int8), r"qweight I8 \(128,\)"),
        (f"{LAYER}.qweight", torch.zeros(128, 128), "qweight F32"),
        (f"{LAYER}.qweight", torch.zeros(256, 128, dtype=torch.int8), r"wscales F16 \(4, 128\) .* \(4, 256\)"),
        (f"{LAYER}.smooth", torch.zeros(128).half(), r"smooth F16 \(128,\) .* \(256,\)"),
        (f"{LAYER}.smooth", torch.zeros(256), r"smooth F32"),
        (f"{LAYER}.lora_down", torch.zeros(256, 24).half(), r"lora_down \(256, 24\)"),
        (f"{LAYER}.lora_down", torch.zeros(256).half(), r"lora_down \(256,\)"),
        (f"{LAYER}.lora_down", torch.zeros(256, 8192).half(), r"lora_down \(256, 8192\)"),
        (f"{LAYER}.lora_up", torch.zeros(128, 16).half(), r"lora_up F16 \(128, 16\) .* \(128, 32\)"),
        (f"{LAYER}.lora_up", None, "lacks .*lora_up"),
        (f"{LAYER}.bias", torch.zeros(64).half(), r"bias F16 \(64,\)"),
        (f"{SINGLE}.out_proj.qweight", None, "lacks .*out_proj.qweight"),
        (f"{NORM}.qweight", torch.zeros(20, 64, dtype=torch.int32), r"I32 \(20, 64\) .* multiple of 6 rows"),
        (f"{NORM}.qweight", torch.zeros(24, 64, dtype=torch.int8), "qweight I8"),
        (f"{NORM}.qweight", torch.zeros(24, 40, dtype=torch.int32), r"qweight I32 \(24, 40\)"),
        (f"{NORM}.qweight", torch.zeros(24, dtype=torch.int32), r"qweight I32 \(24,\)"),
        (f"{NORM}.wzeros", torch.zeros(2, 95).half(), r"wzeros F16 \(2, 95\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_before_anything_is_read(name, changed, reason):
    tensors = specs(whole_block())
    tensors = {each: spec for each, spec in tensors.items() if each != name}
    tensors |= {} if changed is None else specs({name: changed})
    with pytest.raises(ModelRefused, match=reason):
        find_stored_layers(tensors, {}, {}.get)


def whole_block():
    """One layer of every kind."""
    parts, _ = modulation(seeded(96, 128), seeded(1, 96)[0], 6, torch.float16)
    tensors = stored(LAYER, written()[2]) | {f"{NORM}.{part}": each for part, each in parts.items()}
    return tensors | stored(f"{SINGLE}.out_proj", written()[2]) | stored(f"{SINGLE}.mlp_fc2", written()[2])


def test_neighbours_of_other_rows_are_refused():
    tensors = whole_block() | stored(f"{SINGLE}.out_proj", written(256)[2])
    with pytest.raises(ModelRefused, match="mlp_fc2: rows 128 .* only 256"):
        decoded(tensors)


@pytest.mark.parametrize(("name", "value"), [(f"{LAYER}.smooth", 0), (f"{LAYER}.wscales", torch.nan)])
def test_numbers_that_are_none_are_refused(name, value):
    tensors = whole_block()
    tensors[name][...] = value
    with pytest.raises(ModelRefused, match="qkv_proj: its weight_.* contains NaN or infinity"):
        decoded(tensors)


def test_modulation_of_numbers_that_are_none_is_refused():
    tensors = whole_block()
    tensors[f"{NORM}.wzeros"][0, 0] = torch.inf
    with pytest.raises(ModelRefused, match=r"norm1\.linear: its scales contain NaN"):
        decoded(tensors)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({f"{LAYER}.wscales": torch.zeros(16, 128).to(torch.float8_e4m3fn)}, "in FP4, such as .*wscales.* svdq-int4"),
        ({f"{LAYER}.wtscale": torch.ones(1)}, "in FP4, such as .*wtscale"),
        ({f"{BLOCK}.attn1.to_qkv.qweight": torch.zeros(1)}, "such as .*attn1.to_qkv.qweight, can be read of FLUX.1, Q"),
        ({"layers.0.out_proj.qweight": torch.zeros(1)}, "FLUX.1, Qwen-Image and Z-Image only; get the model in fp8"),
        ({"x_embedder.weight": None}, "without the rest of the network; get the model in one file"),
        ({}, None),
    ],
)
def test_what_cannot_be_read_is_told_with_what_to_do(more, reason):
    tensors = whole_block() | {"x_embedder.weight": torch.ones(1)} | more
    why = why_unreadable(specs({name: each for name, each in tensors.items() if each is not None}))
    if reason is None:
        assert why is None
    else:
        assert why is not None and re.search(reason, why)
