"""ComfyUI's own library reads what we write, and we read what it writes."""

import json
from dataclasses import replace

import pytest
import torch
from packed_layers import KINDS
from quantized_weights import relative, seeded
from skip_rules import skip_module_without

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.quantization.block_floats import Nvfp4, rounded_rows
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layouts.stored import decode_layer, encode_layer, file_metadata, find_stored_layers

skip_module_without("comfy_kitchen")

LAYER, SHAPE = "model.diffusion_model.blocks.0.attn.to_q", (160, 512)
GROUPS = pytest.mark.parametrize("group", [0, 16, 64, 256])


def written_by_comfy_kitchen(weight, group):
    """The tensors and the description of a layer, as its library gives them."""
    from comfy_kitchen.tensor import QuantizedTensor

    rotation = {"convrot": True, "convrot_groupsize": group} if group else {}
    quantized = QuantizedTensor.from_float(weight, "TensorWiseINT8Layout", per_channel=True, **rotation)
    parts = quantized.layout_cls.state_dict_tensors(quantized._qdata, quantized._params)
    tensors = {f"{LAYER}.weight{suffix}": part for suffix, part in parts.items()}
    return quantized, tensors, {"format": "int8_tensorwise", **rotation}


def read_by_comfy_kitchen(tensors, description, dtype):
    """The weight that its library makes of a file."""
    from comfy_kitchen.tensor import QuantizedTensor, TensorWiseINT8Layout

    params = TensorWiseINT8Layout.Params(
        scale=tensors[f"{LAYER}.weight_scale"],
        orig_dtype=dtype,
        orig_shape=tuple(tensors[f"{LAYER}.weight"].shape),
        convrot=description.get("convrot", False),
        convrot_groupsize=description.get("convrot_groupsize", 256),
    )
    return QuantizedTensor(tensors[f"{LAYER}.weight"], "TensorWiseINT8Layout", params)


def from_file(path):
    header = read_header(path)
    tensors = dict(read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False))
    layers = find_stored_layers(header.tensors, header.metadata, tensors.__getitem__)
    return layers[LAYER], tensors


@GROUPS
def test_it_reads_what_we_write(group, tmp_path):
    from safetensors.torch import load_file, save_file

    weight, x = seeded(*SHAPE) / 10, seeded(33, SHAPE[1])
    format_ = Int8(dynamic=True, group=group)
    tensors = format_.quantize(weight)
    parts = encode_layer(LAYER, format_, SHAPE, tensors, torch.float32)
    save_file(parts, tmp_path / "ours.safetensors", metadata=file_metadata({LAYER: format_}))
    loaded = load_file(tmp_path / "ours.safetensors")
    description = json.loads(loaded[f"{LAYER}.comfy_quant"].numpy().tobytes())
    theirs = read_by_comfy_kitchen(loaded, description, torch.float32)
    assert relative(theirs.dequantize(), format_.dequantize(tensors, weight.shape, torch.float32)) < 1e-6
    product = torch.nn.functional.linear(x, theirs)
    assert relative(format_.product(x, tensors, weight.shape), product) < 1e-3


@GROUPS
@pytest.mark.parametrize("at_once", [True, False])
def test_we_read_what_it_writes(group, at_once, tmp_path):
    from safetensors.torch import save_file

    weight, x = seeded(*SHAPE) / 10, seeded(33, SHAPE[1])
    quantized, parts, description = written_by_comfy_kitchen(weight, group)
    metadata = {"_quantization_metadata": json.dumps({"format_version": "1.0", "layers": {LAYER: description}})}
    if not at_once:
        metadata = {}
        parts[f"{LAYER}.comfy_quant"] = torch.tensor(list(json.dumps(description).encode()), dtype=torch.uint8)
    save_file(parts, tmp_path / "theirs.safetensors", metadata=metadata)
    layer, tensors = from_file(tmp_path / "theirs.safetensors")
    assert layer.format == Int8(dynamic=True, group=group) and layer.shape == SHAPE
    found = decode_layer(layer, tensors)
    assert found["weight"].equal(quantized._qdata)
    turned_back = layer.format.dequantize(found, weight.shape, torch.float32)
    assert relative(turned_back, quantized.dequantize()) < 1e-6
    product = torch.nn.functional.linear(x, quantized)
    assert relative(layer.format.product(x, found, weight.shape), product) < 1e-3


@GROUPS
def test_both_write_the_same_integers(group):
    weight = seeded(640, 1024) * torch.logspace(-2, 2, 640)[:, None]
    quantized, parts, _ = written_by_comfy_kitchen(weight, group)
    format_ = Int8(dynamic=True, group=group)
    ours = encode_layer(LAYER, format_, tuple(weight.shape), format_.quantize(weight), torch.float32)
    off = (ours[f"{LAYER}.weight"].int() - quantized._qdata.int()).abs()
    assert off.max() <= 1 and off.sum() <= 1e-4 * off.numel()
    torch.testing.assert_close(ours[f"{LAYER}.weight_scale"], parts[f"{LAYER}.weight_scale"], rtol=1e-6, atol=0)


def test_a_scale_for_the_whole_weight_is_read(tmp_path):
    from comfy_kitchen.tensor import QuantizedTensor
    from safetensors.torch import save_file

    weight = seeded(*SHAPE)
    quantized = QuantizedTensor.from_float(weight, "TensorWiseINT8Layout")
    assert quantized._params.scale.shape == ()
    parts = {
        f"{LAYER}.weight": quantized._qdata,
        f"{LAYER}.weight_scale": quantized._params.scale,
        f"{LAYER}.comfy_quant": torch.tensor(list(b'{"format": "int8_tensorwise"}'), dtype=torch.uint8),
    }
    save_file(parts, tmp_path / "theirs.safetensors")
    layer, tensors = from_file(tmp_path / "theirs.safetensors")
    turned_back = layer.format.dequantize(decode_layer(layer, tensors), weight.shape, torch.float32)
    assert relative(turned_back, quantized.dequantize()) < 1e-6


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("kind", ["mxfp8", "nvfp4"])
def test_floats_of_blocks_are_what_its_library_says(kind, at_once, tmp_path):
    from safetensors.torch import save_file

    parts, theirs = KINDS[kind](seeded(*SHAPE) / 10)
    metadata = {}
    if at_once:
        del parts["comfy_quant"]
        layers = {LAYER: {"format": kind}}
        metadata["_quantization_metadata"] = json.dumps({"format_version": "1.0", "layers": layers})
    save_file({f"{LAYER}.{name}": part for name, part in parts.items()}, tmp_path / "a.safetensors", metadata=metadata)
    layer, tensors = from_file(tmp_path / "a.safetensors")
    assert (layer.format.scheme, layer.shape) == (kind, SHAPE)
    assert layer.format.dequantize(decode_layer(layer, tensors), torch.Size(SHAPE), torch.float32).equal(theirs)


def test_we_write_floats_of_blocks_as_its_library_does():
    parts, _ = KINDS["nvfp4"](seeded(*SHAPE))
    tensors = {name: part for name, part in parts.items() if name != "comfy_quant"}
    ours = encode_layer(LAYER, Nvfp4(), SHAPE, Nvfp4().quantize(seeded(*SHAPE)), torch.bfloat16)
    said = json.loads(ours.pop(f"{LAYER}.comfy_quant").numpy().tobytes())
    assert said == {"format": "nvfp4"}
    assert {name: (part.shape, part.dtype) for name, part in ours.items()} == {
        f"{LAYER}.{name}": (part.shape, part.dtype) for name, part in tensors.items()
    }
    for name, part in tensors.items():
        off = ours[f"{LAYER}.{name}"].reshape(-1).view(torch.uint8) != part.reshape(-1).view(torch.uint8)
        assert off.float().mean() < 1e-3, name  # numbers half way between two


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("kind", ["mxfp8", "nvfp4"])
def test_inputs_of_blocks_are_kept_where_a_file_says_so(kind, kept, tmp_path):
    from safetensors.torch import save_file

    parts, _ = KINDS[kind](seeded(*SHAPE))
    said = json.dumps({"format": kind, "full_precision_matrix_mult": kept})
    parts["comfy_quant"] = torch.tensor(list(said.encode()), dtype=torch.uint8)
    save_file({f"{LAYER}.{name}": part for name, part in parts.items()}, tmp_path / "a.safetensors")
    assert from_file(tmp_path / "a.safetensors")[0].format.dynamic is not kept


@pytest.fixture(scope="module")
def blackwell():
    from fake_products import EmulatedBlackwell

    return EmulatedBlackwell()


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@pytest.mark.parametrize("kind", ["mxfp8", "nvfp4"])
def test_kernels_multiply_what_is_in_the_file(kind, tmp_path, blackwell):
    """As it is: neither numbers nor scales are rearranged for them."""
    from safetensors.torch import save_file

    from mezzotint.quantization.linear import QuantizedWeight
    from mezzotint.quantization.products.block_scaled import BlockScaledLinear

    parts, theirs = KINDS[kind](seeded(160, 384))
    save_file({f"{LAYER}.{name}": part for name, part in parts.items()}, tmp_path / "a.safetensors")
    layer, tensors = from_file(tmp_path / "a.safetensors")
    weight = QuantizedWeight(format=layer.format, tensors=decode_layer(layer, tensors), shape=torch.Size(layer.shape))
    x = seeded(20, 384, seed=1).half()
    wanted = rounded_rows(layer.format, x.float()) @ theirs.float().T
    assert relative(BlockScaledLinear(blackwell)(x, weight).float(), wanted) < 1e-3


def test_exponents_may_be_bytes(tmp_path):
    from safetensors.torch import save_file

    parts, theirs = KINDS["mxfp8"](seeded(*SHAPE))
    parts["weight_scale"] = parts["weight_scale"].view(torch.uint8)
    save_file({f"{LAYER}.{name}": part for name, part in parts.items()}, tmp_path / "a.safetensors")
    layer, tensors = from_file(tmp_path / "a.safetensors")
    assert layer.format.dequantize(decode_layer(layer, tensors), torch.Size(SHAPE), torch.float32).equal(theirs)


@pytest.mark.parametrize(
    ("kind", "name", "change", "why"),
    [
        ("mxfp8", "weight_scale", lambda one: one.view(torch.uint8)[:128], "weight_scale U8 .128, 16."),
        ("mxfp8", "weight_scale", lambda one: torch.full_like(one.view(torch.uint8), 255), "block exponent 255"),
        ("mxfp8", "weight", lambda one: one.view(torch.int8), "weight I8"),
        ("nvfp4", "weight_scale", lambda one: one.float(), "weight_scale F32"),
        (
            "nvfp4",
            "weight_scale",
            lambda one: torch.full_like(one.view(torch.uint8), 0x7F).view(one.dtype),
            "contains NaN",
        ),
        ("nvfp4", "weight_scale_2", lambda one: one.expand(3).clone(), "weight_scale_2 shape"),
        ("nvfp4", "weight_scale_2", lambda one: one * float("nan"), "contains NaN"),
        ("nvfp4", "weight_scale_2", None, "lacks .*weight_scale_2"),
        ("nvfp4", "weight", lambda one: one[:, :-4].contiguous(), "not a multiple of the block size 16|weight_scale"),
        (
            "nvfp4",
            "comfy_quant",
            lambda _: torch.tensor(list(b'{"format": "nvfp4", "convrot": true}'), dtype=torch.uint8),
            "nvfp4 without rotation",
        ),
    ],
)
def test_floats_of_blocks_that_cannot_be_are_refused(kind, name, change, why, tmp_path):
    from safetensors.torch import save_file

    from mezzotint.errors import ModelRefused

    parts, _ = KINDS[kind](seeded(*SHAPE))
    if change is None:
        del parts[name]
    else:
        parts[name] = change(parts[name])
    save_file({f"{LAYER}.{end}": part for end, part in parts.items()}, tmp_path / "a.safetensors")
    with pytest.raises(ModelRefused, match=why):
        layer, tensors = from_file(tmp_path / "a.safetensors")
        decode_layer(layer, tensors)


def test_weights_with_a_codebook_are_what_its_library_says(tmp_path):
    """Both ways; its W4A8 layers are always rotated."""
    from comfy_kitchen.tensor import AsymW4A8Int8Layout, QuantizedTensor
    from safetensors.torch import save_file

    weight = seeded(*SHAPE) / 10
    theirs = QuantizedTensor.from_float(weight, "AsymW4A8Int8Layout")
    parts = AsymW4A8Int8Layout.state_dict_tensors(theirs._qdata, theirs._params)
    metadata = {"_quantization_metadata": json.dumps({"layers": {LAYER: {"format": "asym_w4a8_int8"}}})}
    save_file(
        {f"{LAYER}.weight{name}": each for name, each in parts.items()}, tmp_path / "theirs.safetensors", metadata
    )
    layer, tensors = from_file(tmp_path / "theirs.safetensors")
    assert layer.format == Codebook4(group=256)
    found = layer.format.dequantize(decode_layer(layer, tensors), weight.shape, torch.float32)
    assert relative(found, theirs.dequantize()) < 1e-6

    ours = layer.format.quantize(weight)
    stored = encode_layer(LAYER, layer.format, SHAPE, ours, torch.float32)
    params = replace(
        theirs._params,
        scale=stored[f"{LAYER}.weight_s_rel"],
        s_channel=stored[f"{LAYER}.weight_s_channel"],
        codebook=stored[f"{LAYER}.weight_codebook"],
    )
    read = AsymW4A8Int8Layout.dequantize(stored[f"{LAYER}.weight"], params)
    assert relative(layer.format.dequantize(ours, weight.shape, torch.float32), read) < 1e-6
    assert relative(read, weight) < 1.02 * relative(theirs.dequantize(), weight)
