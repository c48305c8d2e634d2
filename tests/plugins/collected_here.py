"""What a test of the window leaves behind is deleted after it, on the test's thread.

Another thread may not delete an object of Qt, and would crash at times. Windows that are only marked for deletion, and
timers that run on, would be worked through between all tests that follow.

from collected_here import collected_here  # noqa: F401  where objects of Qt meet threads
"""

import gc
from gc import collect  # a test may put something else in its place

import pytest


@pytest.fixture(autouse=True)
def collected_here():
    collect()
    gc.freeze()  # so that what is looked at afterwards is what the test has made
    gc.disable()
    yield
    gc.enable()
    _delete_windows()
    collect()
    _delete_objects()
    collect()


def _delete_windows():
    """Delete what was asked to be deleted later: no loop runs that would do it."""
    from PySide6.QtCore import QCoreApplication, QEvent

    if QCoreApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _delete_objects():
    """Delete what holds itself through Qt, where Python's collector cannot see it, and stop its timers."""
    from PySide6.QtCore import QTimer
    from shiboken6 import delete, isValid

    from mezzotint_app.program import Program

    for each in gc.get_objects():
        if isinstance(each, Program) and isValid(each):
            delete(each)
    for each in gc.get_objects():
        if isinstance(each, QTimer) and isValid(each) and each.isActive():
            each.stop()
