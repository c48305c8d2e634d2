"""The families that this build supports."""

from mezzotint.families.chroma.family import Chroma
from mezzotint.families.family import Family
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.flux1.family import Flux1
from mezzotint.families.flux2.family import Flux2Klein
from mezzotint.families.krea2.family import Krea2
from mezzotint.families.pixart.family import PixArt
from mezzotint.families.qwen_image.edit import QwenImageEdit
from mezzotint.families.qwen_image.family import QwenImage
from mezzotint.families.sana.family import Sana
from mezzotint.families.sana.sprint import SanaSprint
from mezzotint.families.sd3.family import StableDiffusion3
from mezzotint.families.sd15.family import Sd15
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.families.z_image.family import ZImage

FLOW_FAMILIES: tuple[FlowFamily, ...] = (
    ZImage(),
    Flux2Klein(),
    Krea2(),
    QwenImageEdit(),  # before Qwen-Image, which has the same shapes
    QwenImage(),
    Flux1(),
    Chroma(),
    StableDiffusion3(),
    Sana(),
    SanaSprint(),
)
FAMILIES: tuple[Family, ...] = (Sdxl(), Sd15(), PixArt(), *FLOW_FAMILIES)


def family_of(name: str) -> Family:
    """The family with that name; detection returns no other names."""
    return next(family for family in FAMILIES if family.name == name)


def supported() -> str:
    """A sentence listing the supported models, for error messages."""
    folders = ", ".join(family.spec.title for family in FLOW_FAMILIES)
    files = ", ".join(family.spec.title for family in FLOW_FAMILIES if family.original is not None)
    return (
        "What can be run: SDXL (base or refiner, also Turbo, Lightning and LCM) and Stable Diffusion 1.5, as diffusers "
        f"folders or as whole safetensors files; PixArt-alpha, PixArt-Sigma, {folders} as diffusers folders; {files} "
        "also as ComfyUI's split files."
    )
