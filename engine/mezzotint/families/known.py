"""The families that this build can run."""

from mezzotint.families.chroma.family import Chroma
from mezzotint.families.family import Family
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.pixart import PixArt
from mezzotint.families.sana.family import Sana
from mezzotint.families.sd3.family import StableDiffusion3
from mezzotint.families.sdxl import Sdxl
from mezzotint.families.z_image.family import ZImage

FLOW_FAMILIES: tuple[FlowFamily, ...] = (ZImage(), Chroma(), StableDiffusion3(), Sana())
FAMILIES: tuple[Family, ...] = (Sdxl(), PixArt(), *FLOW_FAMILIES)


def family_of(name: str) -> Family:
    """The family of that name; detection names no other."""
    return next(family for family in FAMILIES if family.name == name)
