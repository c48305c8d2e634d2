"""The library service, without torch: models on disk, images, prompts. Opens whatever may be hostile."""

import argparse
import faulthandler
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mezzotint.batch.methods import batch_methods
from mezzotint.jobs.training.methods import training_methods
from mezzotint.library.cards.methods import card_methods
from mezzotint.library.image_methods import LibraryServices, image_methods
from mezzotint.library.model_methods import model_methods
from mezzotint.library.styles.methods import style_methods
from mezzotint.rpc.connection import Connection
from mezzotint.rpc.process import (
    GRACE,
    claim_streams,
    exit_now,
    ignore_interrupts,
    log_to_stderr,
    lower_priority,
)
from mezzotint.rpc.server import Method, RpcServer

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

MAX_JOBS = 16


class Librarian:
    """Answers queries one by one and runs several jobs in parallel."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, folders: Sequence[Path] = (), grace: float = GRACE) -> None:
        self._folders = tuple(folders)
        self._desk = LibraryServices(self._catalog)
        self._rpc = RpcServer(
            Connection(reader, writer), self.methods(), versions=_versions, max_jobs=MAX_JOBS, grace=grace
        )

    def methods(self) -> dict[str, Method]:
        """The method table."""
        return {
            **image_methods(self._desk),
            **model_methods(self._catalog, self._folders),
            **card_methods(self._catalog),
            **style_methods(),
            **batch_methods(self._catalog),
            **training_methods(self._catalog),
        }

    def run(self) -> bool:
        """Serve until the input ends or `shutdown` is called; returns False if work did not stop in time."""
        stopped = self._rpc.run()
        if stopped:
            self._desk.close()
        return stopped

    def _catalog(self) -> "Catalog":
        """Rebuilt each time, as it reads settings that other calls change."""
        from mezzotint.catalog import Catalog

        return Catalog.standard(self._folders)


def _versions() -> dict[str, str]:
    from mezzotint.machine import versions

    return versions()


def _environment() -> None:
    """Set before libraries are imported: no telemetry, and no forking tokenizers."""
    os.environ.update(DO_NOT_TRACK="1", HF_HUB_DISABLE_TELEMETRY="1", TOKENIZERS_PARALLELISM="false")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the process that the window starts."""
    parser = argparse.ArgumentParser(prog="python -m mezzotint.librarian", description=__doc__, allow_abbrev=False)
    parser.add_argument("--models-folder", metavar="DIR", type=Path, action="append", default=[])
    folders: list[Path] = parser.parse_args(argv).models_folder
    _environment()
    log_to_stderr()
    faulthandler.enable()  # if an image crashes the process, the log shows where
    if not Librarian(*claim_streams(), folders).run():
        exit_now()
    return 0


if __name__ == "__main__":
    ignore_interrupts()
    lower_priority()
    sys.exit(main())
