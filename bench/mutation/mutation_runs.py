"""Run tests in forked children of a process that has loaded the heavy libraries but not the code under test.

A child injects the mutant when the module is imported, runs pytest in-process and exits with its status: 0 means every
test passed. Subprocesses that a test starts run the unmodified module from disk.
"""

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Literal

import hypothesis
import hypothesis.configuration
import pytest
from mutants import Mutant, mutated

Outcome = Literal["passed", "failed", "timed out"]

FOLDERS = ("engine", "app", "kernels")  # source folders
# No per-test timeout: endless loops are ended here, by CPU time.
_ARGUMENTS = (
    *("-x", "-o", "timeout=0"),
    *("-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:pytest-qt"),
)
_MEMORY = 8 * 2**30  # bytes a child may allocate, since a fault may make it allocate endlessly
_WAITING = 3  # wall-clock limit as a multiple of the CPU limit, for faults that wait forever
_PAUSE = 0.02  # polling interval in seconds
# The tests set these too, but too late for libraries that are already loaded.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "QT_QPA_PLATFORM": "offscreen",
    "TOKENIZERS_PARALLELISM": "false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of test files, with or without a mutant."""

    tests: tuple[str, ...]
    modules: tuple[str, ...]  # under test: must be imported from the checkout
    mutant: Mutant | None = None
    seconds: float  # CPU time limit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run without a mutant says of itself."""

    outcome: Outcome
    seconds: dict[str, float]  # per test file
    loaded: tuple[str, ...]  # modules of installed packages
    output: str


@dataclass(slots=True, kw_only=True)
class _Child:
    trial: Trial
    folder: Path
    left: float  # wall-clock seconds left, counted while this process runs: it may be suspended with its children
    outcome: Outcome | None = None


def source_of(root: Path, module: str) -> Path:
    """Return a module's file in a checkout."""
    parts = Path(*module.split("."))
    for folder in FOLDERS:
        for path in (root / folder / parts.with_suffix(".py"), root / folder / parts / "__init__.py"):
            if path.is_file():
                return path
    raise SystemExit(f"{root} has no module {module}")


def run_unmutated(root: Path, trial: Trial) -> RunReport:
    """Run the tests as they are, and load what they needed of installed packages into this process, for all others."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        ((_, outcome),) = outcomes(root, [trial], 1, Path(name))
        written = Path(name, "told.json")
        told = json.loads(written.read_text("utf-8")) if written.exists() else {"seconds": {}, "loaded": []}
        output = Path(name, "output").read_text("utf-8", errors="replace")
    return RunReport(outcome=outcome, seconds=told["seconds"], loaded=tuple(told["loaded"]), output=output)


def preload(names: Iterable[str]) -> None:
    """Import modules into this process so that children need not import them each."""
    os.environ.update(_ENVIRONMENT)
    for name in names:
        with contextlib.suppress(BaseException):  # left to the tests if it fails
            importlib.import_module(name)


def outcomes(
    root: Path, trials: Sequence[Trial], jobs: int, kept: Path | None = None
) -> Iterator[tuple[Trial, Outcome]]:
    """Run trials, `jobs` at a time, and yield each as it ends. `kept`: an empty folder for one trial's output."""
    waiting, children = list(reversed(trials)), dict[int, _Child]()
    try:
        while waiting or children:
            while waiting and len(children) < jobs:
                pid, child = _started(root, waiting.pop(), kept)
                children[pid] = child
            for pid in [pid for pid, child in children.items() if _has_ended(pid, child)]:
                child = children.pop(pid)
                yield child.trial, _reap(pid, child, keep=kept is not None)
            time.sleep(_PAUSE)
    finally:
        for pid, child in children.items():
            _reap(pid, child, keep=False)


def _started(root: Path, trial: Trial, kept: Path | None) -> tuple[int, _Child]:
    folder = kept or Path(tempfile.mkdtemp(prefix="mutation-"))
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        _run(root, trial, folder)
    return pid, _Child(trial=trial, folder=folder, left=_WAITING * trial.seconds)


def _has_ended(pid: int, child: _Child) -> bool:
    """Whether it ended or timed out; it is not reaped yet, so its pid cannot be reused."""
    if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
        return True
    child.left -= _PAUSE
    if child.left > 0:
        return False
    child.outcome = "timed out"
    return True


def _reap(pid: int, child: _Child, *, keep: bool) -> Outcome:
    """End it with all that it started, and say how it went."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # in case it is not yet a group leader
    _, status = os.waitpid(pid, 0)
    if not keep:
        shutil.rmtree(child.folder, ignore_errors=True)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "timed out"
    return child.outcome or ("passed" if status == 0 else "failed")


# ---- in the child


def _run(root: Path, trial: Trial, folder: Path) -> None:
    """Run pytest and exit with its status."""
    status = 70
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _prepare(root, folder)
        _limit(math.ceil(trial.seconds))
        sys.meta_path.insert(0, _Finder(root, trial))
        arguments = [*_ARGUMENTS, f"--rootdir={root}", f"--basetemp={folder / 't'}", *trial.tests]
        status = int(pytest.main(arguments, plugins=[_Watch(root, trial, folder)]))
    finally:
        os._exit(status)


def _prepare(root: Path, folder: Path) -> None:
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    for number in (1, 2):
        os.dup2(output, number)
    os.chdir(root)
    os.environ.update(_ENVIRONMENT, PYTHONPATH=os.pathsep.join(str(root / name) for name in FOLDERS))
    os.environ.pop("MEZZOTINT_NO_SKIP", None)
    hypothesis.configuration.set_hypothesis_home_dir(folder)


def _limit(seconds: int) -> None:
    """Limit CPU time, so that a busy machine causes no timeouts, and memory; disable core dumps."""
    limits = {resource.RLIMIT_CPU: seconds, resource.RLIMIT_DATA: _MEMORY, resource.RLIMIT_CORE: 0}
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most + 1))  # a hard limit of `most` would kill it without telling why


class _Finder(importlib.abc.MetaPathFinder):
    """Imports the modules under test from the checkout, substituting the mutant's tree for its module."""

    def __init__(self, root: Path, trial: Trial) -> None:
        self._sources = {name: source_of(root, name) for name in trial.modules}
        self._mutant = trial.mutant

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module under test."""
        source = self._sources.get(fullname)
        if source is None:
            return None
        loader = _Loader(fullname, str(source), self._mutant)
        return importlib.util.spec_from_file_location(fullname, source, loader=loader)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads from source only: never reads or writes bytecode."""

    def __init__(self, name: str, path: str, mutant: Mutant | None) -> None:
        super().__init__(name, path)
        self._mutant = mutant if mutant is not None and mutant.module == name else None

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  signature of loaders
        """Return the module's code, with the mutant if it belongs to this module."""
        source = Path(self.path).read_text("utf-8")
        tree = ast.parse(source) if self._mutant is None else mutated(source, self._mutant)
        return self.source_to_code(tree, self.path)


@dataclass(slots=True, eq=False)
class _Watch:
    """pytest plugin: removes randomness, checks where modules come from, records durations."""

    root: Path
    trial: Trial
    folder: Path
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Configure hypothesis after the tests' own settings: deterministic examples, no shrinking."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutation", hypothesis.settings(), derandomize=True, database=None, phases=phases
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_collection_finish(self) -> None:
        """Check that every module under test was loaded by our finder."""
        for name in self.trial.modules:
            module = sys.modules.get(name)
            if module is not None and not isinstance(module.__loader__, _Loader):
                raise pytest.UsageError(f"{name} was imported from {module.__file__} before the tests")
        package = sys.modules.get(self.trial.modules[0].partition(".")[0])
        if package is not None and not Path(str(package.__file__)).is_relative_to(self.root):
            raise pytest.UsageError(f"{package.__file__} is not in {self.root}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up durations per file."""
        self.seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the data that a run without a mutant reports."""
        if self.trial.mutant is None:
            told = {"seconds": self.seconds, "loaded": sorted(_installed())}
            (self.folder / "told.json").write_text(json.dumps(told), "utf-8")


def _installed() -> Iterator[str]:
    """Yield the loaded modules of installed packages."""
    for name, module in list(sys.modules.items()):
        if "site-packages" in (getattr(module, "__file__", None) or "") and name != "__main__":
            yield name
