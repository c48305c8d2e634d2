"""Waiting until a window has settled."""

from PySide6.QtTest import QTest


def settle():
    """Let pending calls be answered and changes be displayed."""
    for _ in range(3):
        QTest.qWait(15)


def until(condition):
    """Run the event loop until the condition holds."""
    for _ in range(6000):  # generous, for busy machines
        if condition():
            return
        QTest.qWait(10)
    raise AssertionError("waited in vain")
