"""DoRA files: what magnitudes may be, and what is refused before a tensor is read."""

import pytest
import torch
from lora_files import dotted_tensors, kohya_tensors, random_lora, write_lora
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.families.lora.dora import input_magnitudes
from mezzotint.families.lora.file import open_lora


@pytest.mark.parametrize(
    ("part", "shape", "weight", "inputs"),
    [
        ("magnitude", (6,), (6, 8), 0),
        ("magnitude", (1, 6, 1, 1), (6, 8, 3, 3), 0),
        ("magnitude", (6, 1), (6, 6), 0),
        ("magnitude", (1, 6), (6, 6), 0),
        ("dora_scale", (6, 1), (6, 6), 0),
        ("dora_scale", (6,), (6, 6), 0),
        ("dora_scale", (1, 6), (6, 6), 6),
        ("dora_scale", (1, 8, 1, 1), (6, 8, 3, 3), 8),
        ("dora_scale", (1, 8, 1, 1), (6, 72), 8),  # a LoKr's factors do not say how large its window is
        ("dora_scale", (1, 1), (5, 1), 1),
    ],
)
def test_what_they_belong_to(part, shape, weight, inputs):
    assert input_magnitudes({part: shape}, weight) == inputs


@pytest.mark.parametrize(
    ("part", "shape", "message"),
    [
        ("magnitude", (8,), r"\(8,\) instead of 6 numbers"),
        ("dora_scale", (7, 1), r"\(7, 1\) instead of \(6, 1\) or \(1, 8\)"),
        ("dora_scale", (1, 7), r"\(1, 7\) instead of"),
        ("dora_scale", (6, 8), r"\(6, 8\) instead of"),
        ("dora_scale", (8,), r"\(8,\) instead of"),
    ],
)
def test_those_of_another_shape_are_none(part, shape, message):
    with pytest.raises(ValueError, match=message):
        input_magnitudes({part: shape}, (6, 8))


def test_a_layer_is_for_inputs_of_that_number(tmp_path):
    tensors = {"x.lokr_w1": torch.ones(2, 2), "x.lokr_w2": torch.ones(3, 36), "x.dora_scale": torch.ones(1, 8, 1, 1)}
    (layer,) = open_lora(write_lora(tmp_path / "a.safetensors", tensors)).layers
    assert layer.magnitude == "x.dora_scale" and layer.inputs == 8
    assert layer.fits((6, 8, 3, 3)) and not layer.fits((6, 72)) and not layer.fits((6, 24, 3, 1))


NETWORKS = {"unet": nn.ModuleDict({"x": nn.Linear(8, 6), "y": nn.Linear(6, 6)})}
KOHYA, PEFT = (
    kohya_tensors(random_lora(NETWORKS, ".", dora="outputs")),
    dotted_tensors(random_lora(NETWORKS, ".", dora="outputs")),
)
USED = {"lora_adapter_metadata": '{"unet.use_dora": true, "unet.lora_alpha": 3}'}


def without(tensors, *ends):
    return {name: tensor for name, tensor in tensors.items() if not name.endswith(ends)}


REFUSED = {
    "one missing": (without(PEFT, "y.lora_magnitude_vector"), {}, r"a DoRA, but 'unet\.y\.lora_A.*no magnitudes"),
    "all missing": (without(PEFT, "_vector"), USED, r"a DoRA, but 'unet\.x\.lora_A.*no magnitudes"),
    "no factors": ({"unet.x.dora_scale": torch.ones(6, 1)}, {}, r"'unet\.x\.dora_scale' has no 'down' beside it"),
    "too few": (KOHYA | {"lora_unet_x.dora_scale": torch.ones(5, 1)}, {}, r"do not fit: their shape is \(5, 1\)"),
    "three sides": (KOHYA | {"lora_unet_x.dora_scale": torch.ones(6, 1, 1)}, {}, "1, 2 or 4 sides"),
    "none": (KOHYA | {"lora_unet_x.dora_scale": torch.ones(0)}, {}, "1, 2 or 4 sides"),
    "integers": (KOHYA | {"lora_unet_x.dora_scale": torch.ones(6, 1, dtype=torch.int8)}, {}, "a LoRA is of F16"),
    "two sets": (PEFT | {"unet.x.dora_scale": torch.ones(6, 1)}, {}, "two sets; it may hold two LoRAs"),
}


@pytest.mark.parametrize(("tensors", "metadata", "message"), REFUSED.values(), ids=REFUSED)
def test_broken_ones_are_refused_in_a_line(tmp_path, tensors, metadata, message):
    with pytest.raises(ModelRefused, match=message) as caught:
        open_lora(write_lora(tmp_path / "a.safetensors", tensors, metadata))
    assert "a.safetensors" in str(caught.value) and "\n" not in str(caught.value)


def test_lycoris_may_mix_them_with_others(tmp_path):
    file = open_lora(write_lora(tmp_path / "a.safetensors", without(KOHYA, "y.dora_scale")))
    assert [layer.magnitude is None for layer in sorted(file.layers, key=lambda layer: layer.layer)] == [False, True]
