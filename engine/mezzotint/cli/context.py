"""What a command reaches outside itself; tests hand in their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.cli.interrupt import Interrupt
from mezzotint.cli.terminal import Terminal, standard_terminal
from mezzotint.protocol import ImageMetadata

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine


def standard_catalog(folders: Sequence[Path]) -> "Catalog":
    """The models of this machine, and those in the folders."""
    from mezzotint.catalog import Catalog

    return Catalog.standard(folders)


def standard_engine(catalog: "Catalog") -> "Engine":
    """The engine, in this process."""
    from mezzotint.engine import Engine

    return Engine(catalog)


def standard_metadata(path: Path) -> ImageMetadata:
    """What an image says about itself."""
    from mezzotint.images.metadata import read_metadata

    return read_metadata(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The doors of a command."""

    terminal: Terminal = field(default_factory=standard_terminal)
    interrupt: Interrupt = field(default_factory=Interrupt)
    make_catalog: "Callable[[Sequence[Path]], Catalog]" = standard_catalog
    make_engine: "Callable[[Catalog], Engine]" = standard_engine
    read_metadata: Callable[[Path], ImageMetadata] = standard_metadata
