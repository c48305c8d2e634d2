"""Weights of 8-bit floats: what they stand for, and files that cannot be what they say."""

import pytest
import torch
from quantized_weights import seeded
from safetensors.torch import save_file

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.loading.stored_layers import StoredLayers, WholeLayer, find_layers, rows_of
from mezzotint.quantization.formats import Nf4
from mezzotint.quantization.fp8 import LARGEST, Fp8, quantize_fp8_rows
from mezzotint.quantization.layouts.comfyui import ComfyUiLayout
from mezzotint.quantization.layouts.own import OwnLayout

BY_ROWS = Fp8(by_rows=True, inputs="quantized")
DTYPES = {torch.float8_e4m3fn: "F8_E4M3", torch.float32: "F32"}


def test_the_error_is_that_of_three_bits():
    weight = seeded(32, 48)
    tensors = Fp8().quantize(weight)
    assert float(tensors["weight"].float().abs().max()) == LARGEST
    back = Fp8().dequantize(tensors, weight.shape, torch.float32)
    assert float((back - weight).abs().max()) <= float(weight.abs().max()) / 16
    x = seeded(3, 48, seed=1)
    torch.testing.assert_close(Fp8().product(x, tensors, weight.shape), x @ back.T)
    for name, wanted in Fp8().part_specs((32, 48)).items():
        assert (tuple(tensors[name].shape), tensors[name].dtype) == (wanted.shape, wanted.dtype)


def test_thirds_of_rows_are_the_thirds_of_the_weight():
    weight = seeded(12, 8)
    whole = WholeLayer(weight_name="qkv.weight", format=Fp8(), shape=(12, 8), tensors=Fp8().quantize(weight), bytes=100)
    parts = [rows_of(whole, part) for part in THIRDS]
    back = [Fp8().dequantize(part.tensors, torch.Size(part.shape), torch.float32) for part in parts]
    assert torch.equal(torch.cat(back), Fp8().dequantize(whole.tensors, weight.shape, torch.float32))
    with pytest.raises(ModelRefused, match="cannot be taken apart"):
        rows_of(WholeLayer(weight_name="q", format=Nf4(), shape=(12, 8), tensors={}, bytes=1), THIRDS[0])


def floats(*shape):
    return seeded(*shape).to(torch.float8_e4m3fn)


@pytest.mark.parametrize(
    ("tensors", "why"),
    [
        ({"a.weight": floats(4, 4), "a.scale_weight": torch.ones(3)}, "scale shape"),
        ({"a.weight": torch.full((4, 4), 0x7F, dtype=torch.uint8).view(torch.float8_e4m3fn)}, "contains NaN"),
        ({"a.weight": floats(4, 4), "a.scale_weight": torch.tensor(float("nan"))}, "contains NaN"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, tensors, why):
    save_file(tensors, tmp_path / "bad.safetensors")
    with pytest.raises(ModelRefused, match=why):
        layers = StoredLayers([tmp_path / "bad.safetensors"])
        for name, tensor in tensors.items():
            layers.take(name, tensor)


def test_only_weights_of_two_dimensions_are_layers(tmp_path):
    tensors = {"a.weight": floats(4, 4), "b.weight": floats(4), "c.weight": floats(4, 4, 1, 1), "d.bias": floats(4, 4)}
    save_file(tensors, tmp_path / "some.safetensors")
    assert list(find_layers([tmp_path / "some.safetensors"])) == ["a"]


def test_rows_with_scales_of_their_own_lose_less():
    weight = seeded(32, 48) * torch.logspace(-3, 1, 32).unsqueeze(1)
    tensors = BY_ROWS.quantize(weight)
    back = BY_ROWS.dequantize(tensors, weight.shape, torch.float32)
    assert float(((back - weight).abs() / weight.abs().amax(dim=1, keepdim=True)).max()) <= 1 / 16
    for name, wanted in BY_ROWS.part_specs((32, 48)).items():
        assert (tuple(tensors[name].shape), tensors[name].dtype) == (wanted.shape, wanted.dtype)


def test_inputs_are_rounded_row_by_row():
    weight, x = seeded(32, 48), seeded(3, 48, seed=1) * torch.tensor([[1.0], [1e-4], [1e3]])
    tensors = BY_ROWS.quantize(weight)
    back = BY_ROWS.dequantize(tensors, weight.shape, torch.float32)
    rows, scales = quantize_fp8_rows(x)
    assert rows.float().abs().amax(dim=1).tolist() == [LARGEST] * 3
    torch.testing.assert_close(BY_ROWS.product(x, tensors, weight.shape), (rows.float() * scales) @ back.T)


def test_rows_of_zeros_have_scale_1_and_a_number_that_is_none_shows():
    x = torch.zeros(3, 16)
    x[1, 5] = float("nan")
    rows, scales = quantize_fp8_rows(x)
    assert scales[0] == scales[2] == 1 and scales[1].isnan() and not rows.float()[::2].any()
    assert [each.shape for each in quantize_fp8_rows(torch.zeros(2, 0))] == [(2, 0), (2, 1)]


@pytest.mark.parametrize(("told", "inputs"), [({}, "either"), ({"full_precision_matrix_mult": True}, "kept")])
def test_comfyui_s_files_say_whether_inputs_are_kept(told, inputs):
    tensors = {"a.weight": floats(4, 4), "a.weight_scale": torch.ones(1), "a.input_scale": torch.ones(1)}
    specs = {
        name: TensorSpec(dtype=DTYPES[each.dtype], shape=tuple(each.shape), start=0, end=1)
        for name, each in tensors.items()
    }
    parsed = ComfyUiLayout().parse("a", {"format": "float8_e4m3fn", **told}, specs)
    assert parsed.format == Fp8(inputs=inputs)


def test_a_layer_with_a_scale_per_row_is_checked():
    specs = {"a.weight": TensorSpec(dtype="F32", shape=(4, 4), start=0, end=1)}
    with pytest.raises(ModelRefused, match="weight F32"):
        OwnLayout().parse("a", {"format": "float8_rows"}, specs)
    specs = {"a.weight": TensorSpec(dtype="F8_E4M3", shape=(4, 4), start=0, end=1)}
    with pytest.raises(ModelRefused, match="dynamic 1"):
        OwnLayout().parse("a", {"format": "float8_rows", "dynamic": 1}, specs)
