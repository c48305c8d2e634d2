"""Qt's own check of models, told as a failed test instead of an abort."""

from contextlib import contextmanager

from PySide6.QtCore import qInstallMessageHandler
from PySide6.QtTest import QAbstractItemModelTester


@contextmanager
def checked(model):
    """What a model does meanwhile must be as views expect it."""
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
