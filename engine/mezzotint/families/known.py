"""The families that this build can run."""

from mezzotint.families.family import Family
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.pixart.family import PixArt
from mezzotint.families.sd15.family import Sd15
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.families.z_image.family import ZImage

FLOW_FAMILIES: tuple[FlowFamily, ...] = (ZImage(),)
FAMILIES: tuple[Family, ...] = (Sdxl(), Sd15(), PixArt(), *FLOW_FAMILIES)


def family_of(name: str) -> Family:
    """The family of that name; detection names no other."""
    return next(family for family in FAMILIES if family.name == name)
