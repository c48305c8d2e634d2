"""How long tests wait for what another thread, process or window does: one generous limit for all of them."""

import functools
from collections.abc import Callable

MILLISECONDS = 120_000  # what is waited for comes in a fraction of it or, where something is broken, never

_WAITS = ("waitUntil", "waitSignal", "waitSignals", "waitCallback")


def pytest_configure() -> None:
    """Give the waits of pytest-qt the limit; they have 5 seconds."""
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
