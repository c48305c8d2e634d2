"""Keep leftovers of other tests from slowing down later ones: garbage collection of a million objects, style sheets."""

import gc
import itertools
import sys
from gc import collect  # imported by name, since a test may replace gc.collect

import pytest

_ALL = 150  # files between full collections, since frozen objects can become garbage, too

_files = itertools.count(1)
_running: list[object] = [None]  # the file whose tests run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Collect new garbage when another file begins, and everything now and then."""
    _take_off_the_theme()
    if item.path != _running[0]:
        _running[0] = item.path
        if next(_files) % _ALL == 0:
            gc.unfreeze()
        collect()
        gc.freeze()


def _take_off_the_theme() -> None:
    """Remove the style sheet: with one, Qt restyles a branch whenever a widget is reparented, which takes seconds."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    application = widgets.QApplication.instance() if widgets else None
    if widgets and isinstance(application, widgets.QApplication) and application.styleSheet():
        application.setStyleSheet("")
