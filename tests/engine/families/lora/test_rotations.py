"""OFTs against what peft makes of weights, and against the formulas of LyCORIS, kohya's scripts and OneTrainer.

`peft_oft.safetensors` holds random rotations of peft 0.20.1's OFT for a linear layer and two convolutions, their
weights, and what `merge_and_unload` makes of those.
"""

import math
from pathlib import Path

import pytest
import torch
from lora_files import write_lora
from safetensors.torch import load_file
from torch import nn

from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.loading.original_names import THIRDS, Rows
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import Fit, LayerIndex, Target, fit
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import swap_in

MADE = load_file(Path(__file__).parents[3] / "fixtures" / "peft_oft.safetensors")
CASES = ("blocks", "shared", "constrained")


def network():
    torch.manual_seed(0)
    return nn.ModuleDict({"linear": nn.Linear(24, 16), "conv": nn.Conv2d(8, 16, 3), "point": nn.Conv2d(24, 16, 1)})


def fitting(path, networks):
    file = open_lora(path)
    assert not file.unknown
    return FittingLora(file=file, fit=fit(file, LayerIndex(networks, "unet")))


def put(networks, path, strength=1.0):
    lora, adapters = fitting(path, networks), Adapters(networks)
    adapters.hold([lora], lambda: False)
    adapters.apply([(lora, strength)])
    return adapters


def random(*shape, seed=0, size=0.3):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape))) * size


@pytest.mark.parametrize("strength", [1.0, 0.4, -0.7])
@pytest.mark.parametrize("case", CASES)
def test_a_weight_is_that_of_peft(tmp_path, case, strength):
    networks = {"unet": network()}
    plain = {name: MADE[f"{case}/{name}:weight"] for name in networks["unet"]}
    for name, layer in networks["unet"].items():
        layer.weight = nn.Parameter(plain[name].clone())
    factors = {name.partition(":")[2]: each for name, each in MADE.items() if name.startswith(f"{case}:")}
    adapters = put(networks, write_lora(tmp_path / "adapter_model.safetensors", factors), strength)
    for name, layer in networks["unet"].items():
        wanted = plain[name] + strength * (MADE[f"{case}/{name}:merged"] - plain[name])
        torch.testing.assert_close(layer.weight.detach(), wanted, rtol=1e-5, atol=1e-6)
    adapters.let_go()
    assert all(torch.equal(layer.weight, plain[name]) for name, layer in networks["unet"].items())


def cayley(blocks, constraint):
    """R as in LyCORIS's `get_r` and kohya's `get_weight`, in float64."""
    q, same = blocks.double() - blocks.double().mT, torch.eye(blocks.shape[1], dtype=torch.float64)
    norm = torch.linalg.vector_norm(q)
    if constraint > 0 and norm > constraint:
        q = q * constraint / norm
    return (same + q) @ torch.linalg.inv(same - q)


def rotated(weight, rotation, gains=1.0):
    """A weight whose outputs are rotated, then scaled, as LyCORIS's `make_weight` does."""
    groups = weight.double().reshape(*rotation.shape[:2], -1)
    return torch.einsum("knm,knp->kmp", rotation, groups).reshape(weight.shape) * gains


@pytest.mark.parametrize("prefix", ["lora_unet_", "lycoris_", "oft_unet_", "diffusion_model."])
@pytest.mark.parametrize(("alpha", "rescaled"), [(None, False), (0.0, True), (1e-2, False), (1e-2, True), (9.0, False)])
def test_outputs_are_rotated_as_by_lycoris_and_kohya(tmp_path, prefix, alpha, rescaled):
    networks, plain, tensors, wanted = {"unet": network()}, network(), {}, {}
    for name, layer in plain.items():
        blocks = random(4, 4, 4, seed=len(name))
        tensors[f"{prefix}{name}.oft_blocks"] = blocks
        gains = 1.0
        if alpha is not None:
            tensors[f"{prefix}{name}.alpha"] = torch.tensor(alpha)
        if rescaled:
            gains = 1 + random(16, *(1,) * (layer.weight.ndim - 1), seed=3)
            tensors[f"{prefix}{name}.rescale"] = gains
        wanted[name] = rotated(layer.weight.detach(), cayley(blocks, (alpha or 0.0) * 16), gains)
    put(networks, write_lora(tmp_path / "a.safetensors", tensors), 0.6)
    for name, layer in plain.items():
        weight = layer.weight.detach().double()
        assert (wanted[name] - weight).norm() > 0.01 * weight.norm()
        close = (weight + 0.6 * (wanted[name] - weight)).float()
        torch.testing.assert_close(networks["unet"][name].weight.detach(), close, rtol=1e-5, atol=1e-6)


def test_early_files_of_lycoris_have_the_rotation_itself(tmp_path):
    networks, plain, rotation = {"unet": network()}, network()["linear"].weight.detach(), cayley(random(2, 8, 8), 0)
    put(networks, write_lora(tmp_path / "a.safetensors", {"lora_unet_linear.oft_diag": rotation.float()}))
    wanted = rotated(plain, rotation).float()
    torch.testing.assert_close(networks["unet"]["linear"].weight.detach(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["linear", "conv", "point"])
@pytest.mark.parametrize("scaled", [False, True])
def test_inputs_are_rotated_as_by_onetrainer(tmp_path, name, scaled):
    """As x R in linear layers, but as W R in convolutions, in each case by a series of five terms."""
    networks, plain = {"unet": network()}, network()[name].weight.detach().flatten(1)
    upper, size = random(plain.shape[1] // 4, 6), 4
    tensors = {f"lora_unet_{name}.oft_R.weight": upper}
    if scaled:
        tensors[f"lora_unet_{name}.oft_R.scaled_oft"] = torch.tensor(1)
    put(networks, write_lora(tmp_path / "a.safetensors", tensors))
    q, (rows, columns) = torch.zeros(len(upper), size, size), torch.triu_indices(size, size, 1)
    q[:, rows, columns] = upper / (math.sqrt(6) if scaled else 1)
    q = q - q.mT
    rotation = torch.eye(size) + 2 * q + 2 * q @ q + 2 * q @ q @ q + q @ q @ q @ q
    whole = torch.block_diag(*rotation)
    wanted = plain @ (whole.T if name == "linear" else whole)
    torch.testing.assert_close(networks["unet"][name].weight.detach().flatten(1), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["outputs", "inputs"])
@torch.inference_mode()
def test_beside_quantized_weights(tmp_path, kind):
    networks, format_ = {"unet": network()}, Int8(dynamic=False)
    weights = {name: layer.weight.detach() for name, layer in networks["unet"].items()}
    networks["unet"]["norm"] = nn.LayerNorm(8)
    swap_in(networks["unet"], dict.fromkeys(weights, format_))
    layers, plain = networks["unet"], {}
    for name, weight in weights.items():
        layers[name].set_tensors(format_.quantize(weight))
        plain[name] = nn.Parameter(layers[name].weight.dequantized(torch.float32))
    tensors = {
        f"unet.{name}.oft_R.weight" if kind == "inputs" else f"unet.{name}.oft_blocks": random(
            *((plain[name][0].numel() // 4, 6) if kind == "inputs" else (4, 4, 4))
        )
        for name in weights
    }
    path, merged = write_lora(tmp_path / "a.safetensors", tensors), {"unet": network()}
    for name, layer in merged["unet"].items():
        layer.weight, layer.bias = plain[name], nn.Parameter(layers[name].bias)
    put(networks, path, 0.7)
    put(merged, path, 0.7)
    for name in weights:
        layer = layers[name]
        x = random(3, *((24,) if name == "linear" else (plain[name].shape[1], 5, 5)), size=1.0)
        unchanged = nn.functional.linear(x, plain[name], layer.bias) if name == "linear" else None
        assert unchanged is None or (unchanged - layer(x)).norm() > 0.05 * unchanged.norm()
        torch.testing.assert_close(layer(x), merged["unet"][name](x), rtol=1e-4, atol=1e-5)


def fused(tensors, path, forms):
    """An OFT of a fused weight, and networks with its parts."""
    networks = {"unet": nn.ModuleDict({name: nn.Linear(8, 4) for name in "qkv"})}
    file = open_lora(write_lora(path, tensors))
    targets = [
        Target(component="unet", name=name, shape=(4, 8), form=form) for name, form in zip("qkv", forms, strict=True)
    ]
    pairs = tuple((file.layers[0], target) for target in targets)
    assert all(target.is_meant(file.layers[0]) for target in targets)
    return networks, FittingLora(file=file, fit=Fit(pairs=pairs, missing=(), misshapen=()))


@pytest.mark.parametrize("kind", ["outputs", "inputs"])
def test_parts_of_a_fused_weight_are_rotated_as_in_the_whole(tmp_path, kind):
    tensors = {"x.oft_blocks": random(6, 2, 2)} if kind == "outputs" else {"x.oft_R.weight": random(2, 6)}
    networks, lora = fused(tensors, tmp_path / "a.safetensors", THIRDS)
    whole = {"unet": nn.ModuleDict({"x": nn.Linear(8, 12)})}
    whole["unet"]["x"].weight = nn.Parameter(torch.cat([networks["unet"][name].weight for name in "qkv"]))
    put(whole, lora.file.path)
    adapters = Adapters(networks)
    adapters.hold([lora], lambda: False)
    adapters.apply([(lora, 1.0)])
    together = torch.cat([networks["unet"][name].weight for name in "qkv"])
    torch.testing.assert_close(together, whole["unet"]["x"].weight, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("blocks", [(2, 6, 6), (4, 3, 3), (1, 12, 12)])
def test_outputs_that_the_model_has_in_several_layers_are_refused(tmp_path, blocks):
    networks, lora = fused({"x.oft_blocks": random(*blocks)}, tmp_path / "a.safetensors", THIRDS)
    with pytest.raises(ModelRefused, match="rotates outputs together that the model has in several layers"):
        Adapters(networks).hold([lora], lambda: False)


def test_swapped_halves_are_rotated_where_they_are(tmp_path):
    networks = {"unet": nn.ModuleDict({"x": nn.Linear(8, 4)})}
    file = open_lora(write_lora(tmp_path / "a.safetensors", {"x.oft_blocks": random(2, 2, 2)}))
    target = Target(component="unet", name="x", shape=(4, 8), form="swapped")
    lora = FittingLora(file=file, fit=Fit(pairs=((file.layers[0], target),), missing=(), misshapen=()))
    plain, adapters = networks["unet"]["x"].weight.detach(), Adapters(networks)
    adapters.hold([lora], lambda: False)
    adapters.apply([(lora, 1.0)])
    wanted = rotated(plain.roll(2, 0), cayley(random(2, 2, 2), 0)).roll(2, 0).float()
    torch.testing.assert_close(networks["unet"]["x"].weight.detach(), wanted, rtol=1e-5, atol=1e-6)
    odd = Target(component="unet", name="x", shape=(4, 8), form=Rows(1, 2, 6))
    assert odd.is_meant(file.layers[0]) is False


def test_a_series_that_overflows_is_refused(tmp_path):
    networks = {"unet": network()}
    path = write_lora(tmp_path / "a.safetensors", {"unet.linear.oft_R.weight": torch.full((6, 6), 1e30)})
    with pytest.raises(ModelRefused, match="too large for the network's numbers"):
        put(networks, path)


def test_rotations_can_be_stopped(tmp_path):
    networks, calls = {"unet": network()}, []
    lora = fitting(write_lora(tmp_path / "a.safetensors", {"lora_unet_linear.oft_blocks": random(4, 4, 4)}), networks)
    Adapters(networks).hold([lora], lambda: calls.append(1))
    left = iter(range(len(calls)))
    with pytest.raises(Cancelled):
        Adapters(networks).hold([lora], lambda: next(left) == len(calls) - 1)
