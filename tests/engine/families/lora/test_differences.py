"""Whole differences of weights, biases and norms: as if they were added by hand, and gone without a trace."""

import pytest
import torch
from lora_files import kohya_tensors, random_lora, write_lora
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit, why_not
from mezzotint.quantization.branched import merged_branches
from mezzotint.quantization.layers import layers_of, quantized_layers, swap_in
from mezzotint.quantization.policy import Choice, formats_for

X = torch.randn(2, 4, 4, 4, generator=torch.Generator().manual_seed(3))


def network():
    torch.manual_seed(0)
    parts = (nn.Conv2d(4, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.Flatten(2), nn.Linear(16, 32), nn.LayerNorm(32))
    return nn.Sequential(*parts, nn.Linear(32, 8, bias=False))


def rand(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 0.3


CHANGES = {  # names in a file, the parameter that each is for, and its shape
    "lora_unet_0.diff": ("0.weight", (8, 4, 3, 3)),
    "lora_unet_0.diff_b": ("0.bias", (8,)),
    "lora_unet_1.w_norm": ("1.weight", (8,)),
    "lora_unet_1.b_norm": ("1.bias", (8,)),
    "lora_unet_3.diff": ("3.weight", (32, 16)),
    "lora_unet_4.diff": ("4.weight", (32,)),
}
TENSORS = {name: rand(*shape, seed=seed) for seed, (name, (_, shape)) in enumerate(CHANGES.items())}


def by_hand(weight=1.0):
    changed = network()
    parameters = dict(changed.named_parameters())
    with torch.no_grad():
        for name, tensor in TENSORS.items():
            parameters[CHANGES[name][0]] += weight * tensor
    return changed


def put(path, networks, tensors, weight=1.0, **how):
    file = open_lora(write_lora(path, tensors))
    found = fit(file, LayerIndex(networks, "unet"))
    adapters = Adapters(networks, **how)
    chosen = FittingLora(file=file, fit=found)
    adapters.hold([chosen], lambda: False)
    adapters.apply([(chosen, weight)])
    return adapters, found


@pytest.mark.parametrize("weight", [1.0, -0.5])
def test_they_are_added_and_leave_no_trace(tmp_path, weight):
    networks = {"unet": network()}
    before = networks["unet"](X)
    adapters, found = put(tmp_path / "x.safetensors", networks, TENSORS, weight)
    torch.testing.assert_close(networks["unet"](X), by_hand(weight)(X))
    assert not found.left_out and len(found.differences) == len(CHANGES)
    adapters.let_go()
    assert torch.equal(networks["unet"](X), before)
    assert all(map(torch.equal, networks["unet"].state_dict().values(), network().state_dict().values()))


def test_beside_factors_of_the_same_layers_all_are_added(tmp_path):
    networks, wanted = {"unet": network()}, by_hand()
    added = random_lora(networks, r"\.[35]$", alpha=2.0)
    _, found = put(tmp_path / "x.safetensors", networks, TENSORS | kohya_tensors(added))
    with torch.no_grad():
        for one in added:
            wanted.get_submodule(one.name).weight += one.difference().float()
    torch.testing.assert_close(networks["unet"](X), wanted(X))
    assert len(found.pairs) == 2


def test_what_is_merged_on_a_device_is_told_by_name_and_the_host_s_stay(tmp_path):
    networks = {"unet": network()}
    put(tmp_path / "x.safetensors", networks, TENSORS, at_rest=False)
    assert set(merged_branches(networks["unet"])) == {parameter for parameter, _ in CHANGES.values()}
    assert torch.equal(networks["unet"](X), network()(X))


def test_beside_quantized_weights_they_are_computed(tmp_path):
    networks, wanted = {"unet": network()}, by_hand()
    before = dict(network().state_dict())
    swap_in(
        networks["unet"], formats_for("UNet2DConditionModel", layers_of(networks["unet"]), Choice(scheme="int8-weight"))
    )
    stored = dict(quantized_layers(networks["unet"]))
    assert {"0", "3"} & set(stored)
    for name, layer in stored.items():
        layer.set_tensors(layer.format.quantize(before[f"{name}.weight"]))
        added = TENSORS.get(f"lora_unet_{name}.diff", 0)
        wanted.get_submodule(name).weight = nn.Parameter(layer.weight.dequantized(torch.float32) + added)
    adapters, _ = put(tmp_path / "x.safetensors", networks, TENSORS)
    with torch.inference_mode():
        torch.testing.assert_close(networks["unet"](X), wanted(X), atol=1e-4, rtol=1e-4)
    adapters.let_go()
    assert torch.equal(networks["unet"][3].bias, before["3.bias"])


def test_biases_of_peft_s_factors_are_added_at_their_scale(tmp_path):
    networks, bias = {"unet": network()}, rand(32, seed=9)
    tensors = {
        "unet.3.lora_A.weight": rand(2, 16),
        "unet.3.lora_B.weight": torch.zeros(32, 2),
        "unet.3.lora_B.bias": bias,
    }
    put(tmp_path / "x.safetensors", networks, tensors, 0.5)
    wanted = network()
    with torch.no_grad():
        wanted[3].bias += 0.5 * bias
    torch.testing.assert_close(networks["unet"](X), wanted(X))


def test_those_that_fit_nothing_are_named(tmp_path):
    networks = {"unet": network()}
    others = {
        "lora_unet_5.diff_b": rand(8),  # the layer has no bias
        "lora_unet_1.diff": rand(9),
        "lora_unet_7.w_norm": rand(8),
        "unet.5.lora_A.weight": rand(2, 32),
        "unet.5.lora_B.weight": rand(8, 2),
        "unet.5.lora_B.bias": rand(8),
    }
    _, found = put(tmp_path / "x.safetensors", networks, TENSORS | others)
    assert set(found.left_out) == {*list(others)[:3], "unet.5.lora_B.bias"}
    file = open_lora(write_lora(tmp_path / "y.safetensors", others))
    assert "has 1 of its 4 layers" in (why_not(file, fit(file, LayerIndex(networks, "unet")), "m") or "")


@pytest.mark.parametrize(
    ("name", "shape"), [("lora_unet_1.b_norm", (8, 1)), ("lora_unet_0.diff", ()), ("lora_unet_0.diff", (0, 4))]
)
def test_impossible_shapes_are_refused(tmp_path, name, shape):
    path = write_lora(tmp_path / "x.safetensors", TENSORS | {name: torch.zeros(shape)})
    with pytest.raises(ModelRefused, match=rf"'{name}' has the shape .*which no parameter has"):
        open_lora(path)


def test_numbers_that_overflow_are_refused(tmp_path):
    networks = {"unet": network().half()}
    with pytest.raises(ModelRefused, match=r"'1.bias' is too large"):
        put(tmp_path / "x.safetensors", networks, {"lora_unet_1.b_norm": torch.full((8,), 1e6)})
