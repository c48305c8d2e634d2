"""External dependencies of a command; tests inject their own."""

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

PARTLY_DONE = 3  # exit code: some images were made, others failed


def standard_catalog(folders: Sequence[Path]) -> "Catalog":
    """Return the catalog of the models on this machine and in `folders`."""
    from mezzotint.catalog import Catalog

    return Catalog.standard(folders)


def standard_engine(catalog: "Catalog") -> "Engine":
    """Return an in-process engine."""
    from mezzotint.engine import Engine

    return Engine(catalog)


def standard_metadata(path: Path) -> ImageMetadata:
    """Read the metadata of an image file."""
    from mezzotint.images.metadata import read_metadata

    return read_metadata(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Terminal, interrupt handler and factories that a command uses."""

    terminal: Terminal = field(default_factory=standard_terminal)
    interrupt: Interrupt = field(default_factory=Interrupt)
    make_catalog: "Callable[[Sequence[Path]], Catalog]" = standard_catalog
    make_engine: "Callable[[Catalog], Engine]" = standard_engine
    read_metadata: Callable[[Path], ImageMetadata] = standard_metadata
