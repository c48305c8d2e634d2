"""A service and a background thread controlled by the test."""

from dataclasses import dataclass, field

import pytest

from mezzotint_app.processes.service import Failure


@dataclass
class Asked:
    call: int
    method: str
    params: object
    answer: object
    then: object
    failed: object
    on_event: object
    open: bool = True


@dataclass
class FakeService:
    """Records calls; the test answers, fails or sends events for the oldest open call of a method."""

    asked: list = field(default_factory=list)
    cancelled: list = field(default_factory=list)

    def ask(self, method, params=None, *, answer=None, then=None, failed=None, on_event=None):
        call = len(self.asked) + 1
        self.asked.append(Asked(call, method, params, answer, then, failed, on_event))
        return call

    def cancel(self, call):
        self.cancelled.append(call)

    def methods(self):
        return [one.method for one in self.asked]

    def open(self, method=None):
        return [one for one in self.asked if one.open and method in (None, one.method)]

    def last(self, method=None):
        return [one for one in self.asked if method in (None, one.method)][-1]

    def answer(self, value, method=None, call=None):
        one = self._take(method, call)
        if one.then is not None:
            one.then(value)

    def fail(self, kind="failed", message="it did not work", method=None, call=None):
        one = self._take(method, call)
        if one.failed is not None:
            one.failed(Failure(kind=kind, message=message))

    def event(self, event, method=None, call=None):
        one = self._find(method, call)
        if one.on_event is not None:
            one.on_event(event)

    def _find(self, method, call):
        found = [one for one in self.open(method) if call in (None, one.call)]
        assert found, f"nothing open for {method or 'any method'}: asked were {self.methods()}"
        return found[0]

    def _take(self, method, call):
        one = self._find(method, call)
        one.open = False
        return one


class InlineBackground:
    """Runs work immediately, or with `held` when `go` is called."""

    def __init__(self):
        self.held = False
        self.waiting = []

    def run(self, work, then=None, failed=None):
        self.waiting.append((work, then, failed))
        if not self.held:
            self.go()

    def go(self):
        while self.waiting:
            work, then, failed = self.waiting.pop(0)
            try:
                value = work()
            except Exception as error:
                if failed is None:
                    raise
                failed(error)
            else:
                if then is not None:
                    then(value)


@pytest.fixture
def service():
    return FakeService()


@pytest.fixture
def inline():
    return InlineBackground()
