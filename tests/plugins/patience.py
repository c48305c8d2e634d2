"""One generous timeout for everything tests wait for in another thread, process or window."""

import functools
from collections.abc import Callable

MILLISECONDS = 120_000  # successful waits take a fraction of it; failing ones never end

_WAITS = ("waitUntil", "waitSignal", "waitSignals", "waitCallback")


def pytest_configure() -> None:
    """Set the default timeout of pytest-qt's waits, which is 5 seconds."""
    try:
        from pytestqt.qtbot import QtBot
    except ImportError:
        return
    for name in _WAITS:
        setattr(QtBot, name, _patient(getattr(QtBot, name)))


def _patient(wait: "Callable[..., object]") -> "Callable[..., object]":
    @functools.wraps(wait)
    def patient(*arguments: object, **options: object) -> object:
        return wait(*arguments, **{"timeout": MILLISECONDS} | options)

    return patient
