"""Delete what a window test leaves behind after the test, on the test's thread.

If another thread deleted a Qt object, it would occasionally crash. Windows that are only marked for deletion, and
running timers, would be processed between all the following tests.

from collected_here import collected_here  # noqa: F401  where objects of Qt meet threads
"""

import gc
from gc import collect  # imported by name, since a test may replace gc.collect

import pytest


@pytest.fixture(autouse=True)
def collected_here():
    collect()
    gc.freeze()  # so that only objects created by the test are examined afterwards
    gc.disable()
    yield
    gc.enable()
    _delete_windows()
    collect()
    _delete_objects()
    collect()


def _delete_windows():
    """Process deleteLater() calls: no event loop runs that would."""
    from PySide6.QtCore import QCoreApplication, QEvent

    if QCoreApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _delete_objects():
    """Delete objects kept alive through Qt, which Python's collector cannot see, and stop their timers."""
    from PySide6.QtCore import QTimer
    from shiboken6 import delete, isValid

    from mezzotint_app.program import Program

    for each in gc.get_objects():
        if isinstance(each, Program) and isValid(each):
            delete(each)
    for each in gc.get_objects():
        if isinstance(each, QTimer) and isValid(each) and each.isActive():
            each.stop()
