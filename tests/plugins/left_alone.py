"""What other tests have left slows nothing down: a million objects to search for garbage, a theme of the window."""

import gc
import itertools
import sys
from gc import collect  # a test may put something else in its place

import pytest

_ALL = 150  # files between two looks at everything: what is left alone may have become garbage, too

_files = itertools.count(1)
_running: list[object] = [None]  # the file whose tests run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at what is new when another file begins, and now and then at all that there is."""
    _take_off_the_theme()
    if item.path != _running[0]:
        _running[0] = item.path
        if next(_files) % _ALL == 0:
            gc.unfreeze()
        collect()
        gc.freeze()


def _take_off_the_theme() -> None:
    """Under a style sheet Qt styles a whole branch anew whenever a widget is put into another: windows take seconds."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    application = widgets.QApplication.instance() if widgets else None
    if widgets and isinstance(application, widgets.QApplication) and application.styleSheet():
        application.setStyleSheet("")
