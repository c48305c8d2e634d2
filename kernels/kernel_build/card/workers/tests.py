"""Run the tests that need a GPU: report a row as each ends, skip those that an earlier process ran."""

import os
from collections.abc import Generator, Sequence

import pytest

from kernel_build.card.machine import ROOT
from kernel_build.card.protocol import Row, Teller

_SAID = 40  # lines of a failure to keep


def run(teller: Teller, words: Sequence[str], stub: bool) -> int:
    """Run the tests in the files named by `words`, without the project's pytest plugins and settings."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-m", "gpu", "-p", "no:cacheprovider", "-p", "no:terminal", "-s", "-W", "ignore", "-c", os.devnull]
    options += ["--rootdir", str(ROOT), "--confcutdir", str(ROOT / "tests/kernels/csrc"), "--import-mode", "importlib"]
    status = pytest.main([*options, *(str(ROOT / word) for word in words)], plugins=[_Rows(teller, stub)])
    return 0 if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED) else 1


def _name(item: pytest.Item) -> str:
    return item.nodeid.removeprefix("tests/")


class _Rows:
    def __init__(self, teller: Teller, stub: bool) -> None:
        self._teller, self._stub, self._row = teller, stub, Row(item="")

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the project's markers."""
        for name in ("gpu", "slow", "slow_after(n)"):
            config.addinivalue_line("markers", f"{name}: see pyproject.toml")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect tests that are already done."""
        items[:] = [item for item in items if not self._teller.has(_name(item))]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Announce a test and report its row."""
        self._teller.wants(_name(item))
        self._row = Row(item=_name(item))
        try:
            return (yield)
        finally:
            self._teller.row(self._row)

    def pytest_runtest_setup(self) -> None:
        """Skip every test of a stub run, which only shows that tests can be collected and imported."""
        if self._stub:
            pytest.skip("there is no card")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of setup, call and teardown."""
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._row = Row(item=self._row.item, outcome="skipped", problem=reason.removeprefix("Skipped: "))
        if report.failed:
            said = report.longreprtext.strip().splitlines()
            problem = next((line[2:].strip() for line in said if line.startswith("E ")), (said or ["?"])[-1])
            self._row = Row(
                item=self._row.item,
                outcome="failed",
                problem=f"{report.when}: {problem}"[:300],
                measured={"said": said[-_SAID:]},
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a file that cannot be imported."""
        if report.failed and self._teller.wants(report.nodeid):
            said = report.longreprtext.strip().splitlines()
            self._teller.row(Row(item=report.nodeid, outcome="failed", problem=(said or ["?"])[-1][:300]))
