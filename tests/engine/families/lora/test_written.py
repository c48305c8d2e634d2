"""DoRAs and LoKrs that we write: read back as the changes of weights that they are, in the names of each family."""

import json

import pytest
import torch
from safetensors.torch import load_file
from written_loras import random_factors, small_networks

from mezzotint.checkpoints.header import read_header
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.known import family_of
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.description import Description
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit
from mezzotint.families.lora.writing import write_lora
from mezzotint.families.lora.written import DoraFactors, LokrFactors
from mezzotint.training.adapters.layers import trainable_layers

TITLE = Description(title="Zibbles")
FAMILIES = ("sdxl", "flux", "z-image", "flux2-klein", "krea2")


def trained_layers(family, folder):
    """Small networks, and random factors for the layers of the denoiser that are trained."""
    networks, component = small_networks(family, folder), family_of(family).denoiser_component
    names = set(trainable_layers(networks[component], "all"))
    factors = random_factors(networks, alpha=2.0)[component]
    return networks, component, {name: each for name, each in factors.items() if name in names}


def weights_with(path, family, networks):
    """The denoiser's weights with the file."""
    of, file = family_of(family), open_lora(path)
    component = of.denoiser_component
    original = of.original if isinstance(of, FlowFamily) else None
    index = LayerIndex(networks, component, None if original is None else original.of(networks[component].config))
    found = fit(file, index)
    assert not found.missing and not found.misshapen and not file.unknown
    adapters, fitting = Adapters(networks), FittingLora(file=file, fit=found)
    adapters.hold([fitting], lambda: False)
    adapters.apply([(fitting, 1.0)])
    return lambda name: networks[component].get_submodule(name).weight.double()


def updated(weight, factors):
    update = torch.einsum("nr,r...->n...", factors.up.double().flatten(1), factors.down.double()) * factors.scale
    return weight.double() + update


@pytest.mark.parametrize("family", FAMILIES)
def test_doras(family, tmp_path):
    networks, component, factors = trained_layers(family, tmp_path / "model")
    layers, expected = {}, {}
    for name, each in factors.items():
        changed = updated(networks[component].get_submodule(name).weight.detach(), each)
        norms = changed.flatten(1).norm(dim=1)
        magnitude = norms * (0.5 + torch.rand(len(norms), generator=torch.Generator().manual_seed(1)))
        layers[name] = DoraFactors(factors=each, magnitude=magnitude.float())
        expected[name] = changed * (magnitude / norms).view(-1, *(1,) * (changed.ndim - 1))
    write_lora(tmp_path / "a.safetensors", {component: layers}, family, TITLE, dtype=torch.float32)
    weight_of = weights_with(tmp_path / "a.safetensors", family, networks)
    for name, weight in expected.items():
        torch.testing.assert_close(weight_of(name), weight, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", ["sdxl", "flux", "z-image"])
def test_lokrs(family, tmp_path):
    networks, component, factors = trained_layers(family, tmp_path / "model")
    layers, expected = {}, {}
    generator = torch.Generator().manual_seed(1)
    for name in factors:
        weight = networks[component].get_submodule(name).weight.detach().double()
        rows, columns, *window = weight.shape
        left, right = (
            torch.randn(2, 2, generator=generator),
            torch.randn(rows // 2, columns // 2, *window, generator=generator),
        )
        layers[name] = LokrFactors(parts={"lokr_w1": left, "lokr_w2": right}, rank=4, alpha=4.0)
        expected[name] = weight + torch.kron(left.reshape(2, 2, *(1 for _ in window)), right)
    write_lora(tmp_path / "a.safetensors", {component: layers}, family, TITLE, dtype=torch.float32)
    weight_of = weights_with(tmp_path / "a.safetensors", family, networks)
    for name, weight in expected.items():
        torch.testing.assert_close(weight_of(name), weight, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("family", "component", "layer", "name", "shape"),
    [
        ("sdxl", "unet", "mid_block.resnets.0.conv1", "lora_unet_mid_block_resnets_0_conv1.dora_scale", (4, 1)),
        ("flux", "transformer", "single_transformer_blocks.0.proj_mlp", "lora_magnitude_vector", (4,)),
        (
            "z-image",
            "transformer",
            "layers.0.feed_forward.w1",
            "diffusion_model.layers.0.feed_forward.w1.dora_scale",
            (4, 1),
        ),
    ],
)
def test_the_names_of_magnitudes(family, component, layer, name, shape, tmp_path):
    """Where diffusers reads the names as they are, peft's; elsewhere those of LyCORIS and ComfyUI."""
    factors = LoraFactors(down=torch.ones(2, 6), up=torch.ones(4, 2), alpha=2.0)
    dora = DoraFactors(factors=factors, magnitude=torch.arange(4.0))
    write_lora(tmp_path / "a.safetensors", {component: {layer: dora}}, family, TITLE)
    (found,) = (each for key, each in load_file(tmp_path / "a.safetensors").items() if key.endswith(name))
    assert tuple(found.shape) == shape and found.flatten().tolist() == [0, 1, 2, 3]
    assert json.loads(read_header(tmp_path / "a.safetensors").metadata["ss_network_args"])["dora_wd"] == "True"


def test_a_convolutions_magnitudes_have_its_axes():
    from mezzotint.families.lora.dialects import DIALECTS

    factors = LoraFactors(down=torch.ones(2, 6, 3, 3), up=torch.ones(4, 2, 1, 1), alpha=2.0)
    dora = DoraFactors(factors=factors, magnitude=torch.arange(4.0))
    assert dora.tensors("a", DIALECTS["sdxl"])["a.dora_scale"].shape == (4, 1, 1, 1)
    assert dora.tensors("a", DIALECTS["flux"])["a.lora_magnitude_vector"].shape == (1, 4, 1, 1)


def test_what_a_lokr_says_about_itself(tmp_path):
    lokr = LokrFactors(parts={"lokr_w1": torch.ones(2, 2), "lokr_w2": torch.ones(2, 3)}, rank=4, alpha=4.0)
    write_lora(tmp_path / "a.safetensors", {"unet": {"conv_in": lokr}}, "sdxl", TITLE)
    said = read_header(tmp_path / "a.safetensors").metadata
    assert (said["ss_network_module"], said["ss_network_args"]) == ("lycoris.kohya", '{"algo": "lokr"}')


def test_layers_of_several_alphas_are_written_with_one(tmp_path):
    """diffusers reads the alphas of attention layers only if all are equal."""
    layers = {
        name: LoraFactors(down=torch.randn(rank, 6), up=torch.randn(4, rank), alpha=alpha)
        for name, rank, alpha in (("a", 2, 1.0), ("b", 4, 2.0), ("c", 8, 2.0), ("d", 2, 0.0))
    }
    write_lora(tmp_path / "a.safetensors", {"unet": layers}, "sdxl", TITLE, dtype=torch.float32)
    tensors = load_file(tmp_path / "a.safetensors")
    for name, each in layers.items():
        parts = (tensors[f"lora_unet_{name}.{part}"] for part in ("lora_up.weight", "lora_down.weight", "alpha"))
        up, down, alpha = parts
        assert alpha == 2
        torch.testing.assert_close(up @ down * alpha / len(down), each.up @ each.down * each.scale)


def test_parts_of_a_fused_layer():
    def part(rows):
        factors = LoraFactors(down=torch.randn(2, 5), up=torch.randn(4, 2), alpha=2.0)
        return rows, DoraFactors(factors=factors, magnitude=torch.rand(4))

    parts = [part(rows) for rows in THIRDS]
    whole = DoraFactors.fused(reversed(parts))
    assert torch.equal(whole.magnitude, torch.cat([each.magnitude for _, each in parts]))
    with pytest.raises(ValueError, match="needs all of its parts"):
        DoraFactors.fused(parts[:2])
    lokr = LokrFactors(parts={}, rank=1, alpha=1.0)
    with pytest.raises(ValueError, match="of which there are 2 parts"):
        LokrFactors.fused([(THIRDS[0], lokr), (THIRDS[1], lokr)])
    with pytest.raises(ValueError, match="swapped"):
        lokr.swapped()
    swapped = parts[0][1].swapped()
    assert torch.equal(swapped.magnitude, parts[0][1].magnitude[[2, 3, 0, 1]])
    assert torch.equal(swapped.factors.up, parts[0][1].factors.up[[2, 3, 0, 1]])
