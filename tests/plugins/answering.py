"""Fake services that answer with values prepared by the test, shortly after and in order like the real ones."""

from PySide6.QtCore import QTimer

from mezzotint_app.processes.service import Failure


class Answering:
    """`answers` maps a method to a value, a Failure, or a function of the parameters that returns one."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def ask(self, method, params=None, *, answer=None, then=None, failed=None, on_event=None):
        self.asked.append(method)
        QTimer.singleShot(0, lambda: self._tell(method, params, then, failed))
        return len(self.asked)

    def cancel(self, call):
        pass

    def _tell(self, method, params, then, failed):
        value = self.answers.get(method, Failure(kind="failed", message=f"nobody answers {method}"))
        value = value(params) if callable(value) else value
        if isinstance(value, Failure):
            if failed is not None:
                failed(value)
        elif then is not None:
            then(value)
