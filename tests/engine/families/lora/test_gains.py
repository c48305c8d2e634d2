"""How DoRAs scale weights: of linear layers and convolutions, fused, quantized, and kept elsewhere."""

import pytest
import torch
from lora_files import dotted_tensors, kohya_tensors, random_lora, write_lora
from torch import nn

from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import Fit, LayerIndex, Target, fit
from mezzotint.memory.host import HostTensor
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import swap_in


def network():
    torch.manual_seed(0)
    return nn.ModuleDict({"conv": nn.Conv2d(4, 8, 3), "square": nn.Linear(6, 6), "one": nn.Linear(1, 5)})


def fitting(path, networks):
    file = open_lora(path)
    return FittingLora(file=file, fit=fit(file, LayerIndex(networks, "unet")))


def put(adapters, *weighted, sources=None):
    adapters.hold([one for one, _ in weighted], lambda: False, *(() if sources is None else (sources,)))
    adapters.apply(weighted)


def close(network, wanted):
    for name, weight in wanted.items():
        torch.testing.assert_close(network[name].weight, weight.float(), rtol=1e-5, atol=1e-5)


def with_differences(network, *weighted):
    """The weights with these LoRAs, each made of the weight without the others."""
    with torch.no_grad():
        weights = {name: layer.weight.double() for name, layer in network.items()}
        for added, strength in weighted:
            for one in added:
                weights[one.name] = weights[one.name] + strength * one.difference(network[one.name].weight)
    return weights


@pytest.mark.parametrize("sides", ["outputs", "inputs"])
@pytest.mark.parametrize("spelt", [kohya_tensors, lambda added: dotted_tensors(added, "down")])
def test_magnitudes_of_outputs_and_inputs(tmp_path, sides, spelt):
    networks, plain = {"unet": network()}, network()
    added = random_lora(networks, ".", dora=sides)
    tensors = spelt(added)
    if spelt is not kohya_tensors:
        tensors = {name: each for name, each in tensors.items() if "magnitude" not in name}
        tensors |= {f"unet.{one.name}.dora_scale": one.magnitude for one in added}
    lora, adapters = fitting(write_lora(tmp_path / "a.safetensors", tensors), networks), Adapters(networks)
    for strength in (1.0, 0.4, -1.5):
        put(adapters, (lora, strength))
        close(networks["unet"], with_differences(plain, (added, strength)))
    put(adapters)
    assert all(torch.equal(networks["unet"][name].weight, layer.weight) for name, layer in plain.items())


@pytest.mark.parametrize("ending", ["", ".weight", ".default", ".default.weight"])
def test_the_names_of_peft(tmp_path, ending):
    networks, plain = {"unet": network()}, network()
    added = random_lora(networks, ".", alpha=3.0, dora="outputs")
    tensors = {
        name + ending if name.endswith("_vector") else name: each for name, each in dotted_tensors(added).items()
    }
    told = {"lora_adapter_metadata": '{"unet.use_dora": true, "unet.lora_alpha": 3, "unet.r": 3}'}
    lora = fitting(write_lora(tmp_path / "a.safetensors", tensors, told), networks)
    assert not lora.file.unknown
    put(Adapters(networks), (lora, 0.7))
    close(networks["unet"], with_differences(plain, (added, 0.7)))


def test_two_at_once_and_a_plain_one(tmp_path):
    networks, plain = {"unet": network()}, network()
    chosen = [random_lora(networks, ".", seed=seed, dora=dora) for seed, dora in enumerate(("outputs", "inputs", None))]
    loras = [
        fitting(write_lora(tmp_path / f"{number}.safetensors", kohya_tensors(added)), networks)
        for number, added in enumerate(chosen)
    ]
    strengths = (0.8, -0.3, 0.5)
    put(Adapters(networks), *zip(loras, strengths, strict=True))
    close(networks["unet"], with_differences(plain, *zip(chosen, strengths, strict=True)))


@pytest.mark.parametrize("sides", ["outputs", "inputs"])
@pytest.mark.parametrize("quantized", [False, True])
def test_a_fused_weight_is_scaled_as_a_whole(tmp_path, sides, quantized):
    torch.manual_seed(0)
    parts = {name: nn.Linear(8, 4) for name in "qkv"}
    whole = nn.Linear(8, 12)
    whole.weight = nn.Parameter(torch.cat([each.weight for each in parts.values()]))
    networks = {"unet": nn.ModuleDict(parts | {"norm": nn.LayerNorm(8)})}
    if quantized:
        format_, weights = Int8(dynamic=False), {name: layer.weight.detach() for name, layer in parts.items()}
        swap_in(networks["unet"], dict.fromkeys(parts, format_))
        parts = {name: networks["unet"][name] for name in parts}
        for name, layer in parts.items():
            layer.set_tensors(format_.quantize(weights[name]))
        whole.weight = nn.Parameter(torch.cat([layer.weight.dequantized(torch.float32) for layer in parts.values()]))
    added = random_lora({"unet": nn.ModuleDict({"x": whole})}, ".", dora=sides)
    file = open_lora(write_lora(tmp_path / "a.safetensors", kohya_tensors(added)))
    targets = [
        Target(component="unet", name=name, shape=(4, 8), form=form) for name, form in zip("qkv", THIRDS, strict=True)
    ]
    found = Fit(pairs=tuple((file.layers[0], target) for target in targets), missing=(), misshapen=())
    put(Adapters(networks), (FittingLora(file=file, fit=found), 0.6))
    wanted = whole.weight + 0.6 * added[0].difference(whole.weight)
    x, bias = torch.randn(5, 8), torch.cat([layer.bias for layer in parts.values()])
    got = torch.cat([networks["unet"][name](x) for name in parts], dim=1)
    torch.testing.assert_close(got, x @ wanted.float().T + bias, rtol=1e-4, atol=1e-4)
    if sides == "inputs":
        lacking = FittingLora(file=file, fit=Fit(pairs=found.pairs[:2], missing=(), misshapen=()))
        with pytest.raises(ModelRefused, match="a weight that the model has in part"):
            put(Adapters(networks), (lacking, 1.0))


def test_weights_that_a_device_holds_with_other_loras_are_not_what_is_measured(tmp_path):
    networks, plain = {"unet": network()}, network()
    added = random_lora(networks, ".", dora="outputs")
    lora = fitting(write_lora(tmp_path / "a.safetensors", kohya_tensors(added)), networks)
    kept = {f"{name}.weight": HostTensor(layer.weight.detach()) for name, layer in plain.items()}
    with torch.no_grad():
        for layer in networks["unet"].values():
            layer.weight.fill_(7.0)
    adapters = Adapters(networks)
    put(adapters, (lora, 1.0), sources=lambda _: kept)
    for layer, original in zip(networks["unet"].values(), plain.values(), strict=True):
        layer.plain[0].weight.data.copy_(original.weight)
    put(adapters)
    put(adapters, (lora, 1.0))
    close(networks["unet"], with_differences(plain, (added, 1.0)))


def test_a_row_of_zeros_stays_one(tmp_path):
    networks = {"unet": nn.ModuleDict({"x": nn.Linear(4, 3)})}
    with torch.no_grad():
        networks["unet"]["x"].weight[1] = 0.0
    added = random_lora(networks, ".", dora="outputs")
    added[0].up[1] = 0.0
    lora = fitting(write_lora(tmp_path / "a.safetensors", kohya_tensors(added)), networks)
    put(Adapters(networks), (lora, 1.0))
    assert torch.equal(networks["unet"]["x"].weight[1], torch.zeros(4))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_magnitudes_that_are_not_finite_are_refused(tmp_path, value):
    networks = {"unet": network()}
    tensors = kohya_tensors(random_lora(networks, ".", dora="outputs"))
    tensors["lora_unet_square.dora_scale"][2] = value
    lora = fitting(write_lora(tmp_path / "a.safetensors", tensors), networks)
    with pytest.raises(ModelRefused, match=r"lora_unet_square\.dora_scale' holds numbers that are not finite"):
        put(Adapters(networks), (lora, 1.0))


def test_magnitudes_too_large_for_the_format_are_refused(tmp_path):
    networks = {"unet": network().half()}
    tensors = kohya_tensors(random_lora(networks, "square", dora="outputs"))
    tensors["lora_unet_square.dora_scale"] = tensors["lora_unet_square.dora_scale"].float() * 1e6
    lora = fitting(write_lora(tmp_path / "a.safetensors", tensors), networks)
    with pytest.raises(ModelRefused, match="too large for the network's numbers"):
        put(Adapters(networks), (lora, 1.0))


def test_measuring_can_be_stopped(tmp_path):
    networks, calls = {"unet": network()}, []
    lora = fitting(
        write_lora(tmp_path / "a.safetensors", kohya_tensors(random_lora(networks, ".", dora="outputs"))), networks
    )
    adapters = Adapters(networks)
    adapters.hold([lora], lambda: calls.append(1))
    after_reading, left = len(calls) - 1, iter(range(len(calls)))
    with pytest.raises(Cancelled):
        Adapters(networks).hold([lora], lambda: next(left) == after_reading)
