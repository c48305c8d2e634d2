"""Weights of 8 bits with nothing but scales beside them stand for what was meant by them, or are refused by name."""

import pytest
import torch
from quantized_weights import seeded
from safetensors.torch import save_file

from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.loading.stored_layers import StoredLayers, dequantized, is_always_dequantized, rows_of
from mezzotint.quantization.fp8 import Fp8, ScaledWeight

E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2


def wholes(tensors, path):
    """The layers of a file of these tensors, by name, as they are loaded."""
    save_file(tensors, path)
    stored = StoredLayers([path])
    found = [stored.take(name, tensor) for name, tensor in tensors.items()]
    return {whole.weight_name.removesuffix(".weight"): whole for whole in found if whole is not None}


def spread(scale, shape, block):
    rows = scale.repeat_interleave(block, 0).repeat_interleave(block, 1)
    return rows[: shape[0], : shape[1]]


@pytest.mark.parametrize("dtype", [E4, E5, torch.int8], ids=str)
@pytest.mark.parametrize("part", ["scale_weight", "weight_scale", "weight_scale_inv"])
def test_a_scale_of_the_weight_of_rows_or_of_blocks_is_applied(dtype, part, tmp_path):
    weights = {name: (seeded(160, 96, seed=at) * 20).to(dtype) for at, name in enumerate("abcd")}
    scales = {"a": torch.tensor(0.5), "b": seeded(160), "c": seeded(160, 1).half(), "d": seeded(5, 3)}
    tensors = {f"{name}.weight": weight for name, weight in weights.items()}
    tensors |= {f"{name}.{part}": scale for name, scale in scales.items()}
    tensors |= {f"{name}.input_scale": torch.ones(1) for name in "ab"}  # of inputs, which get scales of their own
    made = {
        name: whole.format.dequantize(whole.tensors, torch.Size(whole.shape), torch.float32)
        for name, whole in wholes(tensors, tmp_path / "f.safetensors").items()
    }
    means = {name: weight.float() for name, weight in weights.items()}
    assert torch.equal(made["a"], means["a"] * 0.5)
    assert torch.equal(made["b"], means["b"] * scales["b"][:, None])
    assert torch.equal(made["c"], means["c"] * scales["c"].float())
    assert torch.equal(made["d"], means["d"] * spread(scales["d"], (160, 96), 32))


def test_blocks_at_the_edges_are_of_the_usual_size(tmp_path):
    weight, scale = seeded(192, 200).to(E4), seeded(2, 2)
    (whole,) = wholes({"a.weight": weight, "a.weight_scale_inv": scale}, tmp_path / "f.safetensors").values()
    assert whole.format == ScaledWeight(dtype=E4, block=128)
    assert torch.equal(dequantized(whole, torch.float32), weight.float() * spread(scale, (192, 200), 128))
    thirds = [dequantized(rows_of(whole, part), torch.float32) for part in THIRDS]
    assert torch.equal(torch.cat(thirds), dequantized(whole, torch.float32))


def test_convolutions_have_scales_too_and_are_not_kept_in_8_bits(tmp_path):
    weight, scale = seeded(6, 4, 3, 3).to(E5), seeded(6, 1, 1, 1)
    (whole,) = wholes({"a.weight": weight, "a.weight_scale": scale}, tmp_path / "f.safetensors").values()
    assert is_always_dequantized(whole.format)
    assert torch.equal(dequantized(whole, torch.float32), weight.float() * scale)


def test_rows_of_e4m3_stay_in_8_bits(tmp_path):
    tensors = {"a.weight": seeded(8, 16).to(E4), "a.weight_scale": seeded(8, 1)}
    assert wholes(tensors, tmp_path / "f.safetensors")["a"].format == Fp8(by_rows=True)


@pytest.mark.parametrize(
    ("tensors", "why"),
    [
        ({"a.weight": E5, "a.weight_scale_2": (1,)}, "F8_E5M2 with a.weight_scale_2, which is no known scale"),
        ({"a.weight": E4, "a.weight.scale": (1,)}, "a.weight.scale, which is no known scale"),
        ({"a.weight": E4, "a.weight_scale": (1,), "a.zero_point": (1,)}, "a.zero_point, which is no known scale"),
        ({"a.weight": torch.int8}, "is I8 without a scale"),
        ({"a.weight": torch.uint8, "a.weight_scale": (8,)}, "does not fit its weight"),
        ({"a.weight": E4, "a.weight_scale": (3, 5)}, r"scale shape \(3, 5\) of F32 does not fit"),
        ({"a.weight": E5, "a.weight_scale": (16,)}, "does not fit"),
        ({"a.in_proj_weight": E5, "a.in_proj_weight_scale": (1,)}, "a.in_proj_weight is F8_E5M2 with a scale"),
        ({"a.weight._data": torch.int8, "a.weight._scale": (8, 1)}, "layers quantized by quanto are not supported"),
        ({"a._weight_qdata": torch.int8}, "quantized by torchao"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(tensors, why, tmp_path):
    made = {
        name: seeded(*what) if isinstance(what, tuple) else (seeded(8, 16) * 9).abs().to(what)
        for name, what in tensors.items()
    }
    save_file(made, tmp_path / "f.safetensors")
    with pytest.raises(ModelRefused, match=why):
        StoredLayers([tmp_path / "f.safetensors"])


def test_floats_that_are_no_numbers_are_refused(tmp_path):
    codes = torch.full((4, 4), 0x7E, dtype=torch.uint8).view(E5)
    with pytest.raises(ModelRefused, match="weight contains NaN"):
        wholes({"a.weight": codes, "a.scale_weight": torch.ones(1)}, tmp_path / "f.safetensors")


def test_scales_of_norms_and_weights_of_16_bits_do_not_matter(tmp_path):
    tensors = {"n.query_norm.scale": seeded(8), "a.weight": seeded(8, 8).half(), "a.weight_scale": torch.ones(1)}
    assert wholes(tensors | {"b.weight": seeded(8, 8).to(E5)}, tmp_path / "f.safetensors") == {}
