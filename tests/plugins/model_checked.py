"""Run Qt's model tester, reporting as a failed test instead of an abort."""

from contextlib import contextmanager

from PySide6.QtCore import qInstallMessageHandler
from PySide6.QtTest import QAbstractItemModelTester


@contextmanager
def checked(model):
    """Check that the model behaves as views expect while the context is active."""
    told = []

    def hear(_kind, context, message):
        if context.category == "qt.modeltest":
            told.append(message)

    before = qInstallMessageHandler(hear)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
        tester.deleteLater()
    assert told == []
