"""Batches of the window without subprocesses: the test sends their events."""

from collections.abc import Callable
from pathlib import Path

from fake_clock import FakeClock
from fake_service import FakeService
from PySide6.QtCore import QObject, Signal

from mezzotint.batch_protocol import (
    BatchEnded,
    BatchProgress,
    BatchStatus,
    BatchStep,
    BatchTaskRow,
    BatchWritten,
    DryRow,
    DryTotals,
)
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage
from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.batch.batch import BatchModel
from mezzotint_app.viewmodel.batch.batches import Batches
from mezzotint_app.viewmodel.batch.state import BatchesState
from mezzotint_app.viewmodel.batch.turn import GpuTurn


def progress(done=0, **changes) -> BatchProgress:
    values = dict.fromkeys(("failed", "set_aside", "skipped", "already", "left_failed"), 0)
    values |= {"done": done, "total": None, "per_second": None, "seconds_left": None, "vram_bytes": None}
    return BatchProgress(**values | changes)


def step(**changes) -> BatchStep:
    values = {"output": "a.png", "input": "in/a.jpg", "prompt": "a house", "stage": 0, "stages": 1}
    return BatchStep(**values | {"step": 1, "steps": 8} | changes)


def status(**changes) -> BatchStatus:
    values = dict.fromkeys(("done", "failed", "set_aside", "skipped", "damaged_lines", "seconds"), 0)
    values |= {"title": "", "gone": None, "total": None, "kinds": {}, "is_ended": False, "last_run": None}
    values |= {"running": (), "shards": (), "shards_missing": ()}
    return BatchStatus(**values | changes)


def task_row(number=0, **changes) -> BatchTaskRow:
    values = {"status": "done", "input": f"in/{number}.jpg", "output": f"{number}.png", "seed": number}
    values |= {"kind": None, "error": None, "seconds": 1.0, "attempts": 1}
    return BatchTaskRow(**values | changes)


def failed_row(number=0, error="it is cut off", **changes) -> BatchTaskRow:
    return task_row(number, status="failed", kind="image_refused", error=error, **changes)


def dry_row(number=0, **changes) -> DryRow:
    values = {"does": "make", "input": f"in/{number}.jpg", "output": f"{number}.png", "seed": number}
    return DryRow(**values | {"width": 64, "height": 48, "seconds": 2.0, "bytes": 1000} | changes)


def dry_totals(**changes) -> DryTotals:
    values = {"tasks": 1, "to_make": 1, "does": {"make": 1}, "skipped": {}, "seconds": 60.0, "how_known": "measured"}
    return DryTotals(**values | {"bytes": 1 << 20, "free_bytes": 1 << 30, "fits": True} | changes)


class FakeProcess(QObject):
    """A run whose events and ending the test decides."""

    event_received = Signal(object)
    logged = Signal()
    silence_changed = Signal(bool)
    ended = Signal(object)

    def __init__(self, words):
        super().__init__()
        self.words, self.done, self.lines = tuple(words), [], ()

    def start(self):
        self.done.append("start")

    def stop(self):
        self.done.append("stop")

    def stop_now(self):
        self.done.append("stop_now")

    def finish(self, _milliseconds):
        self.done.append("finish")

    def log(self):
        return self.lines

    def end(self, code=0, kind="ended"):
        if kind == "ended" and code in (0, 3):
            done = progress(4, total=4)
            self.event_received.emit(BatchEnded(stopped="finished", failures=0, exit_code=code, progress=done))
        self.ended.emit(ProcessExit(kind=kind, code=code))


class FakeLender(QObject):
    """The queue's runner: lends the GPU when the test says so."""

    started = Signal(object)
    changed = Signal()

    def __init__(self):
        super().__init__()
        self.state, self.who, self.taken_back = "idle", "", 0
        self.then: Callable[[], object] | None = None

    def held_by(self):
        return self.who

    def lend(self, then):
        self.then = then

    def take_back(self):
        self.then = None
        self.taken_back += 1

    def let(self):
        then, self.then = self.then, None
        assert then is not None, "nobody has asked"
        then()


class FakeModels(QObject):
    """The window's engine."""

    changed = Signal()

    def __init__(self):
        super().__init__()
        self.now, self.restarted = "ready", 0

    def state(self):
        return self.now

    def restart(self):
        self.restarted += 1


class FakeAccess(QObject):
    """Access to the queue's store: only whether it can be opened."""

    opened = Signal(object)
    unusable = Signal(str)


class HasRequest:
    def __init__(self):
        stage = Stage(model=ModelRef(id="starter-dit"), width=64, height=48)
        self.wanted = GenerateRequest(prompt="a red house", cascade=Cascade(stages=(stage,)))

    def request(self, *, styled=True):
        return self.wanted


class Works:
    """The page's view model and everything it needs."""

    def __init__(self, folder, inline, state=None):
        self.folder = Path(folder)
        self.librarian, self.clock, self.create = FakeService(), FakeClock(), HasRequest()
        self.lender, self.models, self.access = FakeLender(), FakeModels(), FakeAccess()
        self.processes, self.noticed = [], []
        self.settings = Stored(self.folder / "window.json", Settings(output_folder=str(self.folder / "out")), inline)
        self.state = Stored(self.folder / "batches.json", state or BatchesState(), inline)
        self.turn = GpuTurn(self.lender, self.models, self.access, self.clock)
        self.batches = Batches(
            self.librarian,
            inline,
            self.state,
            self.turn,
            self._process,
            self.folder / "jobs",
            clock=self.clock,
            run_command=("mezzotint", "run"),
        )
        self.model = BatchModel(self.create, self.librarian, self.batches, self.state, self.settings)
        self.model.noticed.connect(self.noticed.append)

    def _process(self, words):
        self.processes.append(FakeProcess(words))
        return self.processes[-1]

    def add(self, name="Holiday"):
        """Add a batch, and start it if the queue allows."""
        known = {one.known.id for one in self.batches.all()}
        self.batches.add({"version": 1, "title": name}, name, str(self.folder / "out" / name))
        written = self.librarian.last("batch_write")
        if written.open:
            self.librarian.answer(BatchWritten(path=written.params.path), method="batch_write")
        return next((one.known.id for one in self.batches.all() if one.known.id not in known), None)

    def run(self, name="Holiday"):
        """Add a batch that runs."""
        identity = self.add(name)
        self.lender.let()
        return identity, self.processes[-1]

    def stage(self, identity):
        return self.batches.get(identity).stage
