"""How the layers of each family are named in LoRA files, in names that diffusers and ComfyUI read.

kohya's scripts join prefix and layer with underscores (kohya-ss/sd-scripts, networks/lora.py). SD 1.5's U-Net has
diffusers' names there and SDXL's the original ones; ComfyUI maps diffusers' names for both (Comfy-Org/ComfyUI,
comfy/lora.py, model_lora_keys_unet), as do diffusers and A1111, so those are written.

Transformers: `transformer.` and diffusers' names where ComfyUI's map has them and diffusers converts no others (FLUX.1,
Chroma, SD 3, PixArt), else `diffusion_model.` and the names in ComfyUI's file, as the trainers of these models write
them: diffusers converts those of FLUX.2 and Krea 2 (loaders/lora_conversion_utils.py), where it accepts no alpha.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mezzotint.families.flow.original import OriginalNetwork, Parameters, flat
from mezzotint.families.flux2.names import TRANSFORMER as FLUX2
from mezzotint.families.krea2.names import TRANSFORMER as KREA2


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Names of a family's layers, and what its files say about their base model.

    `base_version`: kohya's `ss_base_model_version`; `architecture`: that of the model in modelspec.
    """

    base_version: str
    architecture: str
    implementation: str = "diffusers"
    prefixes: Mapping[str, str]  # by component
    is_kohya: bool = False
    original: OriginalNetwork | None = None  # whose names the denoiser's layers have

    @property
    def is_peft(self) -> bool:
        """Whether diffusers reads the names as they are, and so peft's for a DoRA's magnitudes."""
        return not self.is_kohya and self.prefixes["transformer"] == "transformer"

    def names(self, component: str, layers: Collection[str]) -> dict[str, Parameters]:
        """Names in a file without a part's ending, each with the layers of a component that it is for.

        Raises ValueError for layers that have no original name, KeyError for a component without a prefix.
        """
        prefix = self.prefixes[component]
        if self.original is not None and component == "transformer":
            placed = self.original.original_layers(layers)
            nameless = set(layers) - {layer for parts in placed.values() for layer, _ in parts}
            if nameless:
                raise ValueError(f"{self.original.name} has no original name for {', '.join(sorted(nameless))}")
        else:
            placed = {_published(layer): ((layer, "whole"),) for layer in layers}
        if self.is_kohya:
            return {f"{prefix}_{flat(name)}": parts for name, parts in placed.items()}
        return {f"{prefix}.{name}": parts for name, parts in placed.items()}


def _published(layer: str) -> str:
    """CLIP's names as in published files, whichever version of transformers named them."""
    return f"text_model.{layer}" if layer.startswith("encoder.layers.") else layer


def _prefixes(denoiser: str, encoders: Iterable[str] = ("text_encoder", "text_encoder_2")) -> dict[str, str]:
    return {"transformer": denoiser, **{name: name for name in encoders}}


_OWN, _GENERIC = _prefixes("transformer"), _prefixes("diffusion_model", ())
_SANA = Dialect(base_version="sana", architecture="sana", prefixes=_prefixes("transformer", ()))
_QWEN_IMAGE = Dialect(base_version="qwen_image", architecture="Qwen-Image", prefixes=_GENERIC)
DIALECTS: Mapping[str, Dialect] = {
    "sdxl": Dialect(
        base_version="sdxl_base_v1-0",
        architecture="stable-diffusion-xl-v1-base",
        implementation="https://github.com/Stability-AI/generative-models",
        prefixes={"unet": "lora_unet", "text_encoder": "lora_te1", "text_encoder_2": "lora_te2"},
        is_kohya=True,
    ),
    "sd15": Dialect(
        base_version="sd_v1",
        architecture="stable-diffusion-v1",
        prefixes={"unet": "lora_unet", "text_encoder": "lora_te"},
        is_kohya=True,
    ),
    "pixart": Dialect(base_version="pixart", architecture="pixart", prefixes=_prefixes("transformer", ())),
    "flux": Dialect(base_version="flux1", architecture="flux-1-dev", prefixes=_OWN),
    "chroma": Dialect(base_version="chroma", architecture="chroma", prefixes=_OWN),
    "sd3": Dialect(base_version="sd3", architecture="stable-diffusion-3", prefixes=_OWN),
    "sana": _SANA,
    "sana-sprint": _SANA,
    "z-image": Dialect(base_version="zimage", architecture="Z-Image", prefixes=_GENERIC),
    "qwen-image": _QWEN_IMAGE,
    "qwen-image-edit": _QWEN_IMAGE,
    "flux2-klein": Dialect(
        base_version="flux2",
        architecture="Flux.2",
        implementation="https://github.com/black-forest-labs/flux2",
        prefixes=_GENERIC,
        original=FLUX2,
    ),
    "krea2": Dialect(
        base_version="krea2",
        architecture="krea-2",
        implementation="https://github.com/krea-ai/krea-2",
        prefixes=_GENERIC,
        original=KREA2,
    ),
}


def families_named(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The families that a file's metadata name in kohya's or modelspec's words; empty if none."""
    version, architecture = (metadata.get(key, "") for key in ("ss_base_model_version", "modelspec.architecture"))
    said = {version, architecture.partition("/")[0]}
    return tuple(name for name, one in DIALECTS.items() if said & {one.base_version, one.architecture})
