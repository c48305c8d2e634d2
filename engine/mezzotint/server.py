"""The engine process: JSON-RPC 2.0, one object per line on stdin and stdout, log on stderr."""

import argparse
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mezzotint.errors import Busy, DeviceLost, MezzotintError
from mezzotint.libraries import defer_imports, import_networks, offline_environment
from mezzotint.protocol import GenerateManyRequest, GenerateRequest, IsCancelled, PlanRequest
from mezzotint.queue_protocol import DrainRequest, DrainSettings, OnJobEvent
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
from mezzotint.training_protocol import TrainingJob, TrainingPlan, TrainingRequest, TrainingResult

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine
    from mezzotint.jobs.locked_file import LockedFile
    from mezzotint.jobs.methods import QueueMethods

_log = logging.getLogger("mezzotint.server")

MakeCatalog = Callable[[], "Catalog"]
MakeEngine = Callable[["Catalog"], "Engine"]


class Server:
    """Serves the engine: one job or queue drain at a time, and queries meanwhile."""

    def __init__(
        self,
        reader: BinaryIO,
        writer: BinaryIO,
        make_catalog: MakeCatalog,
        make_engine: MakeEngine,
        grace: float = GRACE,
        exit_process: Callable[[int], None] = os._exit,
    ) -> None:
        self._make_catalog = make_catalog
        self._make_engine = make_engine
        self._exit = exit_process
        self._making = threading.Lock()
        self._catalog: Catalog | None = None
        self._engine: Engine | None = None
        self._queue: QueueMethods | None = None
        self._rpc = RpcServer(
            Connection(reader, writer), self._methods(), versions=_versions, grace=grace, on_error=self._on_error
        )

    def run(self) -> bool:
        """Serve until the input ends or `shutdown` is called; returns False if a job did not stop in time."""
        stopped = self._rpc.run()
        if stopped and self._engine is not None:
            self._engine.close()
        return stopped

    def _methods(self) -> dict[str, Method]:
        engine, catalog, queue = self._loaded_engine, self._loaded_catalog, self._queue_methods
        return {
            "generate": Method(
                params=GenerateRequest, run=lambda asked, tell, stop: engine().generate(asked, tell, stop), job=True
            ),
            "generate_many": Method(
                params=GenerateManyRequest,
                run=lambda asked, tell, stop: engine().generate_many(asked, tell, stop),
                job=True,
            ),
            "drain": Method(
                params=DrainRequest, run=lambda asked, tell, stop: queue().drain(asked, tell, stop), job=True
            ),
            "drain_settings": Method(
                params=DrainSettings, run=lambda asked, *_: queue().change_settings(asked), lane="apart"
            ),
            "train": Method(
                params=TrainingJob, run=lambda asked, tell, stop: _train(asked, catalog(), tell, stop), job=True
            ),
            "training_plan": Method(params=TrainingRequest, run=lambda asked, *_: _training_plan(asked, catalog())),
            "plan": Method(params=PlanRequest, run=lambda asked, *_: engine().plan(asked)),
            "info": Method(params=None, run=lambda *_: engine().info()),
            "models": Method(params=None, run=lambda *_: catalog().models()),
            "memory": Method(params=None, run=lambda *_: _memory_now(), lane="apart"),
        }

    def _loaded_catalog(self) -> "Catalog":
        with self._making:
            if self._catalog is None:
                self._catalog = self._make_catalog()
            return self._catalog

    def _loaded_engine(self) -> "Engine":
        catalog = self._loaded_catalog()
        with self._making:
            if self._engine is None:
                self._engine = self._make_engine(catalog)
            return self._engine

    def _queue_methods(self) -> "QueueMethods":
        from mezzotint.jobs.methods import QueueMethods

        with self._making:
            if self._queue is None:
                self._queue = QueueMethods(self._loaded_engine, self._rpc.abandoned)
            return self._queue

    def _on_error(self, error: MezzotintError) -> None:
        """Exit after a lost device, as no later job could work here; the parent starts a new process."""
        if isinstance(error, DeviceLost):
            _log.error("%s", error)
            sys.stderr.flush()
            self._exit(error.exit_code)


def _train(job: TrainingJob, catalog: "Catalog", tell: OnJobEvent, cancelled: IsCancelled) -> TrainingResult:
    from mezzotint.jobs.training.methods import train

    return train(job, catalog, tell, cancelled)


def _training_plan(request: TrainingRequest, catalog: "Catalog") -> TrainingPlan:
    import_networks()
    from mezzotint.jobs.training.planning import plan_before

    return plan_before(request, catalog)


def _versions() -> dict[str, str]:
    from mezzotint.machine import engine_versions

    return engine_versions()


def _memory_now() -> object:
    from mezzotint.memory.machine.memory_now import memory_now

    return memory_now()


def serve(make_catalog: MakeCatalog, make_engine: MakeEngine) -> int:
    """Serve on this process's stdin and stdout until the input ends."""
    offline_environment()
    defer_imports()
    log_to_stderr()
    if not Server(*claim_streams(), make_catalog, make_engine).run():
        exit_now()
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the process that the window starts."""
    parser = argparse.ArgumentParser(prog="python -m mezzotint.server", description=__doc__, allow_abbrev=False)
    parser.add_argument("--models-folder", metavar="DIR", type=Path, action="append", default=[])
    parser.add_argument("--hold", metavar="FILE", type=Path, help="lock this file until the process ends")
    arguments = parser.parse_args(argv)
    folders: list[Path] = arguments.models_folder
    held = _hold(arguments.hold)

    def make_catalog() -> "Catalog":
        from mezzotint.catalog import Catalog

        return Catalog.standard(folders)

    def make_engine(catalog: "Catalog") -> "Engine":
        from mezzotint.engine import Engine

        return Engine(catalog)

    try:
        return serve(make_catalog, make_engine)
    finally:
        if held is not None:
            held.release()


def _hold(path: Path | None) -> "LockedFile | None":
    """Lock `path` for the life of this process, so that a later parent knows it still runs if the first was killed."""
    from mezzotint.jobs.locked_file import LockedFile

    held = None if path is None else LockedFile.take(path)
    if path is not None and held is None:
        raise Busy(f"another process has locked {path}")
    return held


if __name__ == "__main__":
    ignore_interrupts()
    lower_priority()
    sys.exit(main())
