"""LoRAs in networks: as weights that were merged by hand make it, swapped without a trace, read once."""

import copy
import os

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lora_files import Added, dotted_tensors, kohya_tensors, merge, random_lora, write_lora
from torch import nn

from mezzotint.errors import Cancelled, ModelRefused, StorageError
from mezzotint.families.lora import adapters as adapters_module
from mezzotint.families.lora import factors as factors_module
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit
from mezzotint.quantization.layers import layers_of, quantized_layers, swap_in
from mezzotint.quantization.policy import Choice, formats_for


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.Flatten(2), nn.Linear(16, 6), nn.GELU(), nn.Linear(6, 5))


X = torch.randn(2, 4, 4, 4, generator=torch.Generator().manual_seed(3))


@pytest.fixture
def networks():
    return {"unet": network()}


def fitting(path, networks):
    file = open_lora(path)
    return FittingLora(file=file, fit=fit(file, LayerIndex(networks, "unet")))


@pytest.fixture
def lora(tmp_path, networks):
    def build(name="a", tensors=None, **how):
        added = random_lora(networks, ".", **how)
        path = write_lora(tmp_path / f"{name}.safetensors", kohya_tensors(added) if tensors is None else tensors)
        return fitting(path, networks), added

    return build


def put(adapters, *weighted):
    adapters.hold([one for one, _ in weighted], lambda: False)
    adapters.apply(weighted)


def as_merged(*weighted):
    merged = {"unet": network()}
    for added, weight in weighted:
        merge(merged, added, weight)
    return merged["unet"](X)


def test_swapped_from_one_to_the_other_to_none(networks, lora):
    (a, in_a), (b, in_b) = lora("a"), lora("b", rank=5, alpha=1.0, seed=2)
    layers, plain, adapters = list(networks["unet"]), networks["unet"](X), Adapters(networks)
    for weighted, added in [
        ([(a, 1.0)], [(in_a, 1.0)]),
        ([(a, -0.5)], [(in_a, -0.5)]),
        ([(b, 1.0)], [(in_b, 1.0)]),
        ([(a, 0.8), (b, -0.3)], [(in_a, 0.8), (in_b, -0.3)]),
        ([(a, 0.5), (a, 0.25)], [(in_a, 0.75)]),
    ]:
        put(adapters, *weighted)
        torch.testing.assert_close(networks["unet"](X), as_merged(*added), rtol=1e-5, atol=1e-5)
    put(adapters)
    assert all(now is then for now, then in zip(networks["unet"], layers, strict=True))
    assert torch.equal(networks["unet"](X), plain)
    put(adapters, (a, 0.0))
    assert torch.equal(networks["unet"](X), plain) and networks["unet"][0] is layers[0]


@given(rank=st.integers(1, 6), alpha=st.floats(-8, 8), weight=st.floats(-2, 2))
def test_every_rank_alpha_and_weight(tmp_path_factory, rank, alpha, weight):
    networks, folder = {"unet": network()}, tmp_path_factory.mktemp("lora")
    added = random_lora(networks, ".", rank=rank, alpha=alpha)
    one = fitting(write_lora(folder / "a.safetensors", kohya_tensors(added)), networks)
    put(Adapters(networks), (one, weight))
    torch.testing.assert_close(networks["unet"](X), as_merged((added, weight)), rtol=1e-4, atol=1e-4)


def test_a_window_that_is_a_factor_of_its_own(networks, lora):
    (layer,) = random_lora(networks, r"\.0$", rank=3)
    down, mid = layer.down[:, :, :1, :1], torch.randn(3, 3, 3, 3, generator=torch.Generator().manual_seed(5))
    cp = Added(component="unet", name="0", down=down, up=layer.up, mid=mid, alpha=1.5)
    one, _ = lora(tensors=kohya_tensors([cp]))
    put(Adapters(networks), (one, 0.7))
    torch.testing.assert_close(networks["unet"](X), as_merged(([cp], 0.7)), rtol=1e-5, atol=1e-5)


def test_without_an_alpha_it_is_the_rank_or_what_the_metadata_says(networks, tmp_path):
    added = random_lora(networks, ".", rank=3, alpha=3.0)
    one = fitting(write_lora(tmp_path / "a.safetensors", dotted_tensors(added)), networks)
    put(Adapters(networks), (one, 1.0))
    torch.testing.assert_close(networks["unet"](X), as_merged((added, 1.0)), rtol=1e-5, atol=1e-5)
    told = {"lora_adapter_metadata": '{"unet.lora_alpha": 6, "unet.r": 3}'}
    one = fitting(write_lora(tmp_path / "b.safetensors", dotted_tensors(added), told), networks)
    put(Adapters(networks), (one, 1.0))
    torch.testing.assert_close(networks["unet"](X), as_merged((added, 2.0)), rtol=1e-5, atol=1e-5)


def test_what_is_held_is_not_read_again(networks, lora, monkeypatch):
    (a, _), (b, _) = lora("a"), lora("b", seed=2)
    read = []
    original = factors_module.read_tensors

    def counted(files, **how):
        read.extend(path.stem for path in files)
        return original(files, **how)

    monkeypatch.setattr(factors_module, "read_tensors", counted)
    adapters = Adapters(networks)
    for weighted in ([(a, 1.0)], [(a, 0.5)], [(a, 0.5), (b, 1.0)], [(b, 0.2)], [(b, 0.3)], [(a, 1.0)]):
        put(adapters, *weighted)
    assert read == ["a", "b", "a"]


def test_a_file_of_the_same_name_with_other_numbers_is_another(networks, lora):
    adapters = Adapters(networks)
    a, _ = lora("a")
    put(adapters, (a, 1.0))
    again, added = lora("a", rank=4, seed=9)
    os.utime(again.file.path, ns=(1, 1))
    again = fitting(again.file.path, networks)
    put(adapters, (again, 1.0))
    torch.testing.assert_close(networks["unet"](X), as_merged((added, 1.0)), rtol=1e-5, atol=1e-5)


def test_factors_are_rounded_with_the_sum_alone(networks, lora):
    one, added = lora()
    networks["unet"].bfloat16()
    exact = {"unet": copy.deepcopy(networks["unet"]).float()}
    put(Adapters(networks), (one, 0.5))
    merge(exact, added, 0.5)
    for layer, wanted in zip(networks["unet"].parameters(), exact["unet"].parameters(), strict=True):
        assert layer.dtype == torch.bfloat16
        torch.testing.assert_close(layer.float(), wanted, rtol=2**-8, atol=1e-6)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("part", ["lora_up.weight", "alpha"])
def test_numbers_that_are_not_finite_are_refused(networks, lora, part, value):
    tensors = kohya_tensors(random_lora(networks, "."))
    name = f"lora_unet_2.{part}"
    tensors[name] = tensors[name].clone()
    tensors[name].view(-1)[0] = value
    one, _ = lora(tensors=tensors)
    with pytest.raises(ModelRefused, match=r"lora_unet_2.*not finite"):
        put(Adapters(networks), (one, 1.0))


def test_numbers_too_large_for_the_format_are_refused(networks, lora):
    one, _ = lora(size=1e6)
    networks["unet"].half()
    with pytest.raises(ModelRefused, match="too large for the network's numbers; try --dtype float32"):
        put(Adapters(networks), (one, 1.0))


def test_a_file_that_changes_meanwhile_is_told(networks, lora, tmp_path):
    one, _ = lora()
    lora(rank=4)  # of the same name
    with pytest.raises(StorageError, match="changed while it was read"):
        put(Adapters(networks), (one, 1.0))


def test_reading_can_be_stopped(networks, lora):
    one, _ = lora()
    with pytest.raises(Cancelled):
        Adapters(networks).hold([one], lambda: True)


def test_a_change_that_fails_is_made_whole_by_the_next(networks, lora, monkeypatch):
    (a, _), adapters = lora(), Adapters(networks)
    plain, original = networks["unet"](X), adapters_module.set_branches

    def failing(*args, **how):
        original(*args, **how)
        raise MemoryError

    adapters.hold([a], lambda: False)
    monkeypatch.setattr(adapters_module, "set_branches", failing)
    with pytest.raises(MemoryError):
        adapters.apply([(a, 1.0)])
    monkeypatch.setattr(adapters_module, "set_branches", original)
    adapters.apply([])
    assert torch.equal(networks["unet"](X), plain)


def quantized(network, scheme):
    """The network with its layers quantized, and its twin whose weights are what the layers stand for."""
    twin, weights = copy.deepcopy(network), dict(network.state_dict())
    formats = formats_for(type(network).__name__, layers_of(network), Choice(scheme=scheme, rank=4))
    swap_in(network, formats)
    for name, layer in quantized_layers(network):
        layer.set_tensors(layer.format.quantize(weights[f"{name}.weight"]))
        twin.get_submodule(name).weight.copy_(layer.weight.dequantized(torch.float32))
    return network, twin


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("scheme", "tolerance"), [("int8-weight", 1e-4), ("int4", 1e-4), ("int8", 0.03), ("int4-lowrank", 0.03)]
)
@torch.inference_mode()
def test_a_quantized_network_takes_them_as_any_other(tiny_sdxl_folder, tmp_path, scheme, tolerance):
    from diffusers import UNet2DConditionModel

    plain = UNet2DConditionModel.from_pretrained(tiny_sdxl_folder / "unet")
    added = random_lora({"unet": plain}, r"attn[12]\.|ff\.net|conv1", size=0.2)
    path = write_lora(tmp_path / "a.safetensors", kohya_tensors(added, original=True))
    network, twin = quantized(plain, scheme)
    generator = torch.Generator().manual_seed(4)
    sample, text = torch.randn(1, 4, 8, 8, generator=generator), torch.randn(1, 5, 96, generator=generator)
    given = {"text_embeds": torch.randn(1, 64, generator=generator), "time_ids": torch.ones(1, 6)}

    def output(of):
        return of(sample, 500, encoder_hidden_states=text, added_cond_kwargs=given).sample

    before = output(network)
    adapters = Adapters({"unet": network})
    put(adapters, (fitting(path, {"unet": network}), 0.8))
    merge({"unet": twin}, added, 0.8)
    wanted = output(twin)
    assert (wanted - before).norm() > 0.2 * wanted.norm()
    assert (output(network) - wanted).norm() < tolerance * wanted.norm()
    put(adapters)
    assert torch.equal(output(network), before)
