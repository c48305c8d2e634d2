"""Random factors for all layers of the small networks of each family, as a trainer has them."""

from pathlib import Path
from typing import Any

RANK = 3


def small_networks(family: str, folder: Path) -> dict[str, Any]:
    """Return a small random denoiser of the family by component, and the text encoders of a U-Net."""
    import tiny_chroma
    import tiny_flux1
    import tiny_flux2
    import tiny_krea2
    import tiny_qwen_image
    import tiny_sana
    import tiny_sd3
    import tiny_z_image

    transformers = {
        "flux": tiny_flux1,
        "chroma": tiny_chroma,
        "sd3": tiny_sd3,
        "sana": tiny_sana,
        "sana-sprint": tiny_sana,
        "z-image": tiny_z_image,
        "qwen-image": tiny_qwen_image,
        "qwen-image-edit": tiny_qwen_image,
        "flux2-klein": tiny_flux2,
        "krea2": tiny_krea2,
    }
    if family in transformers:
        return {"transformer": transformers[family].transformer()}
    return _of_folder(family, folder)


def _of_folder(family: str, folder: Path) -> dict[str, Any]:
    import diffusers
    import transformers
    from tiny_pixart import write_tiny_pixart
    from tiny_sd15 import write_tiny_sd15
    from tiny_sdxl import write_tiny_sdxl

    classes = {
        "transformer": diffusers.PixArtTransformer2DModel,
        "unet": diffusers.UNet2DConditionModel,
        "text_encoder": transformers.CLIPTextModel,
        "text_encoder_2": transformers.CLIPTextModelWithProjection,
    }
    {"pixart": write_tiny_pixart, "sd15": write_tiny_sd15, "sdxl": write_tiny_sdxl}[family](folder)
    wanted = ("transformer",) if family == "pixart" else ("unet", "text_encoder", "text_encoder_2")
    return {name: classes[name].from_pretrained(folder / name) for name in wanted if (folder / name).is_dir()}


def random_factors(networks: dict[str, Any], *, alpha: float = RANK, seed: int = 1) -> Any:
    """Return random factors for every layer that can have some."""
    import torch

    from mezzotint.families.lora.factors import LoraFactors
    from mezzotint.quantization.branched import branchable_layers

    generator, made = torch.Generator().manual_seed(seed), {}
    for component, network in networks.items():
        for name, layer in branchable_layers(network):
            shape = layer.weight.shape
            down = torch.randn(RANK, *shape[1:], generator=generator) / 8
            up = torch.randn(shape[0], RANK, *(1 for _ in shape[2:]), generator=generator) / 8
            made.setdefault(component, {})[name] = LoraFactors(down=down, up=up, alpha=alpha)
    return made


def added(factors: Any) -> Any:
    """Return what factors add to a weight, in float64."""
    import torch

    return torch.einsum("nr,r...->n...", factors.up.double().flatten(1), factors.down.double()) * factors.scale


def merge(networks: dict[str, Any], factors: Any) -> None:
    """Add factors to the weights."""
    import torch

    with torch.no_grad():
        for component, layers in factors.items():
            for name, each in layers.items():
                weight = networks[component].get_submodule(name).weight
                weight.copy_(weight.double() + added(each))
