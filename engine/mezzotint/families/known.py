"""The families that this build can run."""

from mezzotint.families.family import Family
from mezzotint.families.pixart import PixArt
from mezzotint.families.sdxl import Sdxl

FAMILIES: tuple[Family, ...] = (Sdxl(), PixArt())


def family_of(name: str) -> Family:
    """The family of that name; detection names no other."""
    return next(family for family in FAMILIES if family.name == name)
