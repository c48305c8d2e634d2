"""A bootstrap whose commands the test answers, and what it says of machines."""

from types import SimpleNamespace

from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.processes.setup_process import Bootstrap
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.window_state import WindowState

GB = 1 << 30
ROOT = "/data/mezzotint/engine"
CARD = {
    "vendor": "nvidia", "name": "A card", "memory_bytes": 12 * GB, "capability": [8, 6], "target": None,
    "discrete": True,
}  # fmt: skip
LOOK = {
    "event": "look", "system": "linux", "processor": "x86_64", "gpus": [CARD], "driver": "580.1", "root": ROOT,
    "free": 90 * GB, "version": "1.0", "installed": "1.0-window", "update": False, "before": None, "backend": "cu130",
    "why": "A card with driver 580.1", "advice": None,
    "backends": {
        "window": {"download": 1, "missing": 0, "disk": 1},
        "cpu": {"download": GB, "missing": GB, "disk": 2 * GB},
        "cu130": {"download": 3 * GB, "missing": 3 * GB, "disk": 7 * GB},
    },
}  # fmt: skip
INSTALLED = {**LOOK, "installed": "1.0-cu130", "before": "0.9-cu130"}


class _Signal:
    def __init__(self):
        self._receivers = []

    def connect(self, receiver):
        self._receivers.append(receiver)

    def emit(self, *values):
        for receiver in self._receivers:
            receiver(*values)


class FakeRun:
    """A command that does what the test says."""

    def __init__(self, line):
        self.line, self.told, self.ended = tuple(line), _Signal(), _Signal()
        self.words, self.over = self.line[3:-4], False
        self.root = self.line[self.line.index("--root") + 1]
        self.start, self.deleteLater = (lambda: None), (lambda: None)
        self.asked_to_pause = self.finished = False

    def pause(self):
        self.asked_to_pause = True

    def finish(self, _milliseconds):
        self.finished = True

    def say(self, event, **fields):
        self.told.emit({"event": event, **fields})

    def end(self, code=0, kind="ended", detail=""):
        self.over = True
        self.ended.emit(ProcessExit(kind=kind, code=code, detail=detail))


class FakeSetup:
    """Every command that was started."""

    def __init__(self):
        self.runs = []

    def __call__(self, line):
        self.runs.append(FakeRun(line))
        return self.runs[-1]

    def words(self):
        """Return the commands that were started, without those that look."""
        return [" ".join(run.words) for run in self.runs if run.words != ("look",)]

    def open(self, command):
        """Return the last open run of a command."""
        return [run for run in self.runs if run.words[0] == command and not run.over][-1]

    def look(self, look=LOOK, **changed):
        """Answer what was asked last about the machine."""
        run = self.open("look")
        run.told.emit({**look, **changed})
        run.end()

    def done(self, command, version, **fields):
        """End a command well."""
        run = self.open(command)
        run.say("done", version=version, notes=[], **fields)
        run.end()


def made_setup(folder, inline, *, first=True, state=None, look=LOOK):
    """Return an EngineSetup that has looked at its machine, its commands, settings and state."""
    runs = FakeSetup()
    settings = Stored(folder / "window.json", Settings(), inline)
    kept = Stored(folder / "layout.json", state or WindowState(), inline)
    bootstrap = Bootstrap(python="/python", payload="/payload", root=ROOT, first=first)
    model = EngineSetup(bootstrap, runs, settings, kept)
    model.begin()
    if look is not None:
        runs.look(look)
    return SimpleNamespace(model=model, runs=runs, settings=settings, kept=kept)
