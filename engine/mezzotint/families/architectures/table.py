"""The `architecture` table of a network's configuration: one field for each thing that varies."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused

Trunk: TypeAlias = Literal["sequential", "reversible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """How a network differs from PixArt's; the defaults are PixArt's own."""

    trunk: Trunk = "sequential"  # how blocks follow one another


_KINDS: Mapping[str, tuple[str, ...]] = {"trunk": get_args(Trunk)}


def read_architecture(value: object) -> Architecture:
    """Validate the table; raises ModelRefused for fields and kinds that this version does not know."""
    if not isinstance(value, Mapping):
        raise ModelRefused(f"the architecture is {plain(value, 40)}, not a table")
    names = [field.name for field in fields(Architecture)]
    for name, kind in value.items():
        if name not in names:
            raise ModelRefused(f"architecture.{plain(name, 40)} is not known; known are {', '.join(names)}")
        if kind not in _KINDS[name]:
            raise ModelRefused(
                f"architecture.{name} is {plain(kind, 40)}; it can be {' or '.join(_KINDS[name])}, or a newer version "
                "of Mezzotint is needed"
            )
    return Architecture(**value)
