"""LoRA files that we write: read back bit for bit, in every family, and refused rather than broken."""

from dataclasses import replace

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from written_loras import RANK, added, random_factors, small_networks

from mezzotint.checkpoints.header import read_header
from mezzotint.errors import UsageError
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.known import FAMILIES, family_of
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.description import Description
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.lora.factors import LoraFactors, joined
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit, why_not
from mezzotint.families.lora.writing import write_lora
from mezzotint.quantization.branched import merged_branches

TITLE = Description(title="Zibbles")
LAYER = {"unet": {"conv_in": LoraFactors(down=torch.ones(2, 4, 3, 3), up=torch.ones(8, 2, 1, 1), alpha=2.0)}}


def read_back(path, family, networks):
    """What our reader adds to the weights, by component and layer."""
    of, file = family_of(family), open_lora(path)
    denoiser = of.denoiser_component
    original = of.original if isinstance(of, FlowFamily) else None
    if original is not None:
        original = original.of(networks[denoiser].config)
    found = fit(file, LayerIndex(networks, denoiser, original))
    assert why_not(file, found, "tiny") is None and not found.missing and not found.misshapen and not file.unknown
    assert file.base is None or family in file.base.families
    adapters, fitting = Adapters(networks), FittingLora(file=file, fit=found)
    adapters.hold([fitting], lambda: False)
    adapters.apply([(fitting, 1.0)])
    return {
        component: {name.removesuffix(".weight"): branches for name, (branches,) in merged_branches(network).items()}
        for component, network in networks.items()
    }


def test_every_family_has_a_dialect():
    assert {family.name for family in FAMILIES} == set(DIALECTS)


@pytest.mark.parametrize("family", DIALECTS)
def test_our_reader_finds_the_same_factors_in_the_same_layers(family, tmp_path):
    networks = small_networks(family, tmp_path / "model")
    factors = random_factors(networks)
    write_lora(tmp_path / "a.safetensors", factors, family, TITLE, dtype=torch.float32)
    found = read_back(tmp_path / "a.safetensors", family, networks)
    for component, layers in factors.items():
        assert found[component].keys() == layers.keys()
        for name, each in layers.items():
            branch = found[component][name]
            up, down = branch.up, branch.down
            assert branch.scale == 1
            if len(down) > RANK:  # of a fused layer: what is of the others' is multiplied by zeros
                mine = up.flatten(1).any(0).nonzero().flatten()
                assert len(mine) == RANK
                up, down = up[:, mine], down[mine]
            assert torch.equal(up, each.up) and torch.equal(down, each.down), name


@pytest.mark.slow_after(4)
@pytest.mark.parametrize("family", ["sd15", "flux", "flux2-klein"])
@pytest.mark.parametrize("alpha", [1.0, 6.0, 0.0, -2.0])
def test_every_alpha_adds_the_same(family, alpha, tmp_path):
    networks = small_networks(family, tmp_path / "model")
    factors = random_factors(networks, alpha=alpha)
    write_lora(tmp_path / "a.safetensors", factors, family, TITLE, dtype=torch.float32)
    found = read_back(tmp_path / "a.safetensors", family, networks)
    for component, layers in factors.items():
        for name, each in layers.items():
            branch = found[component][name]
            once = LoraFactors(down=branch.down, up=branch.up, alpha=branch.scale * len(branch.down))
            torch.testing.assert_close(added(once), added(each), rtol=1e-5, atol=1e-7)


def test_only_kohyas_names_come_with_an_alpha(tmp_path):
    for family, count in (("sd15", 3), ("flux2-klein", 2)):
        networks = small_networks(family, tmp_path / family)
        factors = random_factors(networks, alpha=1.5)
        write_lora(tmp_path / f"{family}.safetensors", factors, family, TITLE)
        tensors = load_file(tmp_path / f"{family}.safetensors")
        assert any(name.endswith(".alpha") for name in tensors) == (count == 3)


def test_formats(tmp_path):
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        write_lora(tmp_path / "a.safetensors", LAYER, "sdxl", TITLE, dtype=dtype, overwrite=True)
        tensors = load_file(tmp_path / "a.safetensors")
        assert tensors["lora_unet_conv_in.lora_down.weight"].dtype == dtype
        assert tensors["lora_unet_conv_in.alpha"].dtype == torch.float32


def test_a_layer_without_an_original_name_is_not_lost():
    with pytest.raises(ValueError, match="no original name for other"):
        DIALECTS["krea2"].names("transformer", ["img_in", "other"])


def test_clip_beside_a_transformer():
    """As diffusers and ComfyUI name it, whichever version of transformers named the layer."""
    for layer in ("encoder.layers.0.mlp.fc1", "text_model.encoder.layers.0.mlp.fc1"):
        (name,) = DIALECTS["flux"].names("text_encoder", [layer])
        assert name == "text_encoder.text_model.encoder.layers.0.mlp.fc1"


def test_some_of_a_fused_layers_parts():
    one, two = (LoraFactors(down=torch.randn(2, 5), up=torch.randn(4, 2), alpha=2.0) for _ in range(2))
    whole = joined([(THIRDS[0], one), (THIRDS[2], two)])
    assert whole.rank == 4 and whole.up.shape == (12, 4)
    update = added(whole)
    torch.testing.assert_close(update[:4], added(one))
    torch.testing.assert_close(update[8:], added(two))
    assert not update[4:8].any()


def test_parts_that_share_down_keep_their_rank():
    down = torch.randn(2, 5)
    parts = [LoraFactors(down=down.clone(), up=torch.randn(4, 2), alpha=1.0) for _ in THIRDS]
    whole = joined(zip(THIRDS, parts, strict=True))
    assert whole.rank == 2 and whole.alpha == 1 and torch.equal(whole.up, torch.cat([part.up for part in parts]))


def test_a_resolution_that_is_not_known_is_not_said(tmp_path):
    write_lora(tmp_path / "a.safetensors", LAYER, "sdxl", TITLE)
    assert "modelspec.resolution" not in read_header(tmp_path / "a.safetensors").metadata


def test_what_the_file_says_about_itself(tmp_path):
    about = Description(title="Zibbles", trigger_phrase="a zibble", thumbnail=Image.new("RGBA", (600, 300), "red"))
    about = replace(about, resolution=(768, 512))
    write_lora(tmp_path / "a.safetensors", LAYER, "sdxl", about)
    said = dict(read_header(tmp_path / "a.safetensors").metadata)
    assert said.pop("modelspec.thumbnail").startswith("data:image/jpeg;base64,")
    assert said == {
        "ss_v2": "False",
        "ss_base_model_version": "sdxl_base_v1-0",
        "ss_network_module": "networks.lora",
        "ss_network_dim": "2",
        "ss_network_alpha": "2",
        "ss_network_args": "{}",
        "modelspec.sai_model_spec": "1.0.1",
        "modelspec.architecture": "stable-diffusion-xl-v1-base/lora",
        "modelspec.implementation": "https://github.com/Stability-AI/generative-models",
        "modelspec.title": "Zibbles",
        "modelspec.resolution": "768x512",
        "modelspec.trigger_phrase": "a zibble",
    }


def test_nothing_is_replaced_and_no_part_is_left(tmp_path):
    path = tmp_path / "a.safetensors"
    write_lora(path, LAYER, "sdxl", TITLE)
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        write_lora(path, LAYER, "sdxl", TITLE)
    large = {"unet": {"conv_in": LoraFactors(down=torch.full((2, 4), 1e6), up=torch.ones(8, 2), alpha=2.0)}}
    with pytest.raises(UsageError, match="not finite in float16; choose bfloat16 or float32"):
        write_lora(path, large, "sdxl", TITLE, overwrite=True)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    nothing = {"unet": {"conv_in": LoraFactors(down=torch.full((2, 4), torch.nan), up=torch.ones(8, 2), alpha=2.0)}}
    with pytest.raises(UsageError, match="diverged"):
        write_lora(tmp_path / "b.safetensors", nothing, "sdxl", TITLE, dtype=torch.float32)
    with pytest.raises(UsageError, match=r"name it a\.ckpt\.safetensors"):
        write_lora(tmp_path / "a.ckpt", LAYER, "sdxl", TITLE)
