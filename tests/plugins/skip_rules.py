"""Rules for skipping tests, and the messages; with `MEZZOTINT_NO_SKIP=1` only a missing GPU is accepted.

    @pytest.mark.requires_package("PySide6")                    # the package of that import name
    @pytest.mark.requires_command("xvfb-run", "sudo apt-get install xvfb")
    @pytest.mark.requires_display                               # a screen, real or by Xvfb
    @pytest.mark.gpu                                            # a CUDA device

A module that cannot be imported without a package calls `skip_module_without("PySide6")` on its first lines.
"""

import functools
import importlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Generator

import pytest

INSTALL_LINES = {
    "PySide6": "make setup, or pip install -c constraints.txt -e '.[app]'",
    "ray": "make setup, or pip install -c constraints.txt -e '.[ray]'",
    **dict.fromkeys(("prodigyopt", "schedulefree"), "make setup, or pip install -c constraints.txt -e '.[training]'"),
}
# An installed package may still lack system libraries: the module that needs them, and how to install them.
SYSTEM_LIBRARIES = {"PySide6": ("PySide6.QtWidgets", "sudo apt-get install libegl1 libgl1 libxkbcommon0 libdbus-1-3")}


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for line in (
        "requires_package(name, install=None): skips, with the line that installs it, where a package is missing",
        "requires_command(name, install): skips, with the line that installs it, where a program is missing",
        "requires_display: skips where there is no screen",
    ):
        config.addinivalue_line("markers", line)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that cannot run here."""
    for mark in item.iter_markers("requires_package"):
        reason = missing_package(*mark.args, **mark.kwargs)
        if reason:
            pytest.skip(reason)
    for mark in item.iter_markers("requires_command"):
        name, install = mark.args
        if shutil.which(name) is None:
            pytest.skip(f"needs the program {name}: {install}")
    if item.get_closest_marker("requires_display") and not has_display():
        pytest.skip("needs a display: sudo apt-get install xvfb, then xvfb-run make test")
    if item.get_closest_marker("gpu") and not has_cuda():
        pytest.skip("needs a CUDA device that torch can use: see `mezzotint doctor`")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skips into failures if nothing may be skipped."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and skips_are_failures() and not _is_gpu(item):
        report.outcome = "failed"
        report.longrepr = f"skipped although MEZZOTINT_NO_SKIP is set: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn skips of whole modules into failures if nothing may be skipped."""
    report = yield
    if report.skipped and skips_are_failures():
        report.outcome = "failed"
        report.longrepr = f"skipped although MEZZOTINT_NO_SKIP is set: {_reason(report.longrepr)}"
    return report


def skip_module_without(package: str, install: str | None = None) -> None:
    """Skip the calling test module if a package is missing."""
    reason = missing_package(package, install)
    if reason:
        pytest.skip(reason, allow_module_level=True)


def missing_package(name: str, install: str | None = None) -> str | None:
    """Return how to install a package if it is missing, else None."""
    if importlib.util.find_spec(name) is None:
        return f"needs the package {name}: {install or INSTALL_LINES.get(name) or f'pip install {name}'}"
    module, libraries = SYSTEM_LIBRARIES.get(name, (name, ""))
    try:
        if libraries:
            importlib.import_module(module)
    except ImportError as error:
        return f"{module} cannot be loaded ({error}): {libraries}"
    return None


def skips_are_failures() -> bool:
    """Whether this run may skip nothing."""
    return os.environ.get("MEZZOTINT_NO_SKIP", "") not in {"", "0"}


def has_display() -> bool:
    """Whether windows can be shown."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@functools.cache
def has_cuda() -> bool:
    """Whether torch can use a real, not a simulated, CUDA device; only for tests that need one: it imports torch."""
    import torch

    return torch.version.cuda is not None and torch.cuda.is_available()


def _is_gpu(item: pytest.Item) -> bool:
    return item.get_closest_marker("gpu") is not None


def _reason(longrepr: object) -> str:
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
