"""Time limits of tests, and which tests run when.

A test that takes over `LIMIT` seconds without `@pytest.mark.slow` is listed at the end of the run; over `FAILS` seconds
fails the run. The two are far apart because times depend on the machine. Only CPU time counts, of the test and of the
processes it has waited for; shared fixtures and compiled libraries do not count, nor do modules that it happens to
import first, and a slow processor gets more time. `make test` skips slow tests; `make test-slow` runs them, or with
--sample some of them.
"""

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import pytest

LIMIT = 15.0  # seconds
FAILS = 60.0  # seconds
IMPORT = 0.005  # seconds allowed for each module imported
_YARDSTICK = 0.15  # seconds that `_slowness` takes on a processor of normal speed
_NAME = "processor_seconds"
_started = pytest.StashKey[float]()
_modules = pytest.StashKey[int]()

_shared = [0.0]  # seconds spent in shared fixtures since the test began
_too_long: dict[str, float] = {}
_cases: Counter[str] = Counter()  # per test with slow_after


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the --sample option."""
    parser.addoption(
        "--sample", type=float, default=1.0, metavar="SHARE", help="run only this share of the tests, drawn by the seed"
    )


def pytest_collection() -> None:
    """Reset the counts of cases."""
    _cases.clear()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the cases beyond the first ones of a slow_after test as slow, in source order."""
    mark = item.get_closest_marker("slow_after")
    if mark is not None:
        callspec = getattr(item, "callspec", None)
        device = callspec.params.get("every_device") if callspec is not None else None
        test = f"{item.nodeid.partition('[')[0]} {device}"  # count each device separately
        _cases[test] += 1
        if _cases[test] > mark.args[0]:
            item.add_marker("slow")


@pytest.hookimpl(trylast=True)  # after deselection
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the sample; every worker selects the same."""
    share = config.getoption("--sample")
    if share >= 1:
        return
    draw = random.Random(config.getoption("randomly_seed", 0))
    names = sorted(item.nodeid for item in items)
    left_out = set(names) - set(draw.sample(names, round(share * len(names))))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = [item for item in items if item.nodeid not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start timing."""
    item.stash[_modules] = len(sys.modules)
    item.stash[_started], _shared[0] = _spent(), 0.0


@contextmanager
def for_all() -> Iterator[None]:
    """Exclude the time of what is made once for all tests, whichever asks first; also as a decorator."""
    before, inner = _spent(), _shared[0]
    try:
        yield
    finally:
        _shared[0] = inner + _spent() - before


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    """Exclude the time of shared fixtures."""
    with nullcontext() if fixturedef.scope == "function" else for_all():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the test's time to the report, which travels from the worker to the main process.

    Teardown is excluded: the last test of a file would be charged for the processes that the file ends.
    """
    report = yield
    if call.when == "call" and not _may_be_slow(item) and _started in item.stash:
        imported = IMPORT * (len(sys.modules) - item.stash[_modules])
        spent = _spent() - item.stash[_started] - _shared[0]
        report.user_properties.append((_NAME, spent / _slowness() - imported))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect tests that took too long."""
    seconds = dict(report.user_properties).get(_NAME, 0.0)
    if report.when == "call" and isinstance(seconds, float) and seconds > LIMIT:
        _too_long[report.nodeid] = seconds


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail an otherwise successful run if a test took far too long."""
    if max(_too_long.values(), default=0.0) > FAILS and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the seed, and the tests that took too long."""
    seed = config.getoption("randomly_seed", None)
    if isinstance(seed, int):
        terminalreporter.write_line(f"Order and samples were drawn with --randomly-seed={seed}")
    for name, seconds in sorted(_too_long.items()):
        terminalreporter.write_line(
            f"TOO LONG {name}: {seconds:.0f} s of the processor; make it shorter, or mark it with @pytest.mark.slow"
        )


def _may_be_slow(item: pytest.Item) -> bool:
    """Whether the test is marked slow, or runs with a larger hypothesis profile."""
    return bool(item.get_closest_marker("slow")) or item.config.getoption("hypothesis_profile", None) is not None


@cache
def _slowness() -> float:
    """Return how many times slower this processor is than a normal one; at least 1."""
    start = time.process_time()
    sum(number % 7 for number in range(1_000_000))
    return max(1.0, (time.process_time() - start) / _YARDSTICK)


def _spent() -> float:
    """Return the CPU seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])
