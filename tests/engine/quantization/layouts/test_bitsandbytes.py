"""bitsandbytes reads what we write, we read what it writes, and diffusers loads our folders as its own."""

import json

import pytest
import torch
from packed_layers import in_8_bits
from quantized_weights import seeded
from skip_rules import skip_module_without

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused
from mezzotint.quantization.formats import Int8, Nf4
from mezzotint.quantization.fp4 import Fp4
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.layouts.stored import (
    decode_layer,
    diffusers_quantization_config,
    encode_layer,
    find_stored_layers,
)
from mezzotint.quantization.policy import Choice, formats_for

skip_module_without("bitsandbytes")

LAYER = "blocks.0.to_q"
TWICE = pytest.mark.parametrize("double", [False, True])
TYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])


@TWICE
@TYPES
def test_it_reads_what_we_write(double, dtype):
    from bitsandbytes.functional import dequantize_4bit
    from bitsandbytes.nn import Params4bit

    weight, format_ = seeded(96, 320).to(dtype), Nf4(double=double)
    tensors = format_.quantize(weight)
    parts = encode_layer(LAYER, format_, tuple(weight.shape), tensors, dtype)
    packed = parts.pop(f"{LAYER}.weight")
    theirs = Params4bit.from_prequantized(packed, parts, device="cpu")
    assert theirs.quant_state.dtype == dtype and theirs.quant_state.nested is double
    assert dequantize_4bit(theirs.data, theirs.quant_state).equal(format_.dequantize(tensors, weight.shape, dtype))


@TWICE
@TYPES
def test_we_read_what_it_writes(double, dtype, tmp_path):
    from bitsandbytes.functional import dequantize_4bit
    from bitsandbytes.nn import Linear4bit
    from safetensors.torch import save_file

    layer = Linear4bit(320, 96, compress_statistics=double, quant_type="nf4")
    layer.load_state_dict({"weight": seeded(96, 320), "bias": seeded(96)})
    layer = layer.to(dtype).to("cpu")
    whole = {f"{LAYER}.{name}": part.contiguous() for name, part in layer.state_dict().items()}
    save_file(whole, tmp_path / "theirs.safetensors")
    header = read_header(tmp_path / "theirs.safetensors")
    tensors = dict(read_tensors([tmp_path / "theirs.safetensors"], on_bytes=lambda _: None, cancelled=lambda: False))
    stored = find_stored_layers(header.tensors, header.metadata, tensors.__getitem__)[LAYER]
    assert stored.format == Nf4(double=double) and stored.shape == (96, 320)
    found = decode_layer(stored, tensors)
    theirs = dequantize_4bit(layer.weight.data, layer.weight.quant_state)
    assert stored.format.dequantize(found, torch.Size((96, 320)), dtype).equal(theirs)


@TWICE
def test_its_4_bit_floats_are_read(double, tmp_path):
    from bitsandbytes.functional import dequantize_4bit
    from bitsandbytes.nn import Linear4bit

    layer = Linear4bit(320, 96, bias=False, compress_statistics=double, quant_type="fp4")
    layer.load_state_dict({"weight": seeded(96, 320)})
    layer = layer.to("cpu")
    stored, found = read_back(layer.state_dict(), tmp_path)
    assert stored.format == Fp4(double=double) and stored.shape == (96, 320)
    theirs = dequantize_4bit(layer.weight.data, layer.weight.quant_state)
    assert stored.format.dequantize(found, torch.Size((96, 320)), torch.float32).equal(theirs)


def test_its_rows_of_8_bits_are_read(tmp_path):
    from bitsandbytes.functional import int8_vectorwise_dequant

    parts, _ = in_8_bits(seeded(96, 320))
    assert parts.keys() == {"weight", "SCB", "weight_format"}
    stored, found = read_back(parts, tmp_path)
    assert stored.format == Int8(dynamic=False) and set(stored.names.values()) == {f"{LAYER}.{name}" for name in parts}
    theirs = int8_vectorwise_dequant(parts["weight"], parts["SCB"])
    torch.testing.assert_close(stored.format.dequantize(found, torch.Size((96, 320)), torch.float32), theirs)


@pytest.mark.parametrize(
    ("name", "part", "why"),
    [
        ("weight_format", torch.tensor(1, dtype=torch.uint8), "weight_format 1 is not supported, only 0"),
        ("SCB", torch.ones(95), "SCB shape"),
        ("SCB", torch.full((96,), float("inf")), "contains NaN"),
        ("weight", seeded(96, 320), "weight F32"),
    ],
)
def test_rows_of_8_bits_that_cannot_be_are_refused(name, part, why, tmp_path):
    with pytest.raises(ModelRefused, match=why):
        read_back(in_8_bits(seeded(96, 320))[0] | {name: part}, tmp_path)


def read_back(parts, folder):
    """A layer and its tensors, of a file that holds these parts."""
    from safetensors.torch import save_file

    save_file({f"{LAYER}.{name}": part.contiguous() for name, part in parts.items()}, folder / "theirs.safetensors")
    header = read_header(folder / "theirs.safetensors")
    tensors = dict(read_tensors([folder / "theirs.safetensors"], on_bytes=lambda _: None, cancelled=lambda: False))
    stored = find_stored_layers(header.tensors, header.metadata, tensors.__getitem__)[LAYER]
    return stored, decode_layer(stored, tensors)


def transformer():
    from diffusers import PixArtTransformer2DModel

    torch.manual_seed(0)
    return PixArtTransformer2DModel(
        num_layers=2,
        num_attention_heads=4,
        attention_head_dim=16,
        cross_attention_dim=64,
        caption_channels=32,
        sample_size=16,
        patch_size=2,
    )


@pytest.fixture
def without_gpu(monkeypatch):
    """Have diffusers load 4-bit layers without a card, which bitsandbytes can and diffusers refuses."""
    from diffusers.quantizers.bitsandbytes.bnb_quantizer import BnB4BitDiffusersQuantizer

    monkeypatch.setattr(BnB4BitDiffusersQuantizer, "validate_environment", lambda *_, **__: None)
    monkeypatch.setattr(BnB4BitDiffusersQuantizer, "update_device_map", lambda *_: {"": "cpu"})


@TWICE
@pytest.mark.usefixtures("without_gpu")
def test_diffusers_loads_a_folder_of_ours_with_the_same_weights(double, tmp_path):
    from bitsandbytes.functional import dequantize_4bit
    from bitsandbytes.nn import Linear4bit
    from diffusers import PixArtTransformer2DModel
    from safetensors.torch import save_file

    network = transformer()
    layers = layers_of(network)
    formats = formats_for(type(network).__name__, layers, Choice(scheme="int4", double=double, single_format=True))
    state, wanted = dict(network.state_dict()), {}
    for name, format_ in formats.items():
        weight = state.pop(f"{name}.weight")
        tensors = format_.quantize(weight)
        wanted[name] = format_.dequantize(tensors, weight.shape, torch.float32)
        state |= encode_layer(name, format_, tuple(weight.shape), tensors, torch.float32)
    kept = [layer.name for layer in layers if layer.name not in formats and not layer.is_convolution]
    network.save_pretrained(tmp_path)
    save_file(state, tmp_path / "diffusion_pytorch_model.safetensors", metadata={"format": "pt"})
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    config["quantization_config"] = diffusers_quantization_config(formats, kept)
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")

    loaded = PixArtTransformer2DModel.from_pretrained(tmp_path, dtype=torch.float32)
    theirs = {name: module for name, module in loaded.named_modules() if isinstance(module, Linear4bit)}
    assert theirs.keys() == wanted.keys()
    for name, module in theirs.items():
        assert dequantize_4bit(module.weight.data, module.weight.quant_state).equal(wanted[name]), name
    plain = dict(loaded.named_parameters())
    for name in kept:
        assert plain[f"{name}.weight"].equal(state[f"{name}.weight"]), name
