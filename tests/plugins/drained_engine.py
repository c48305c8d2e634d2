"""An engine that drains the queue with the real code on a thread, and whose results the test decides."""

import threading
from errno import ENOSPC
from typing import Any

from fake_supervised import FakeSupervised

from mezzotint import errors
from mezzotint.jobs.methods import QueueMethods
from mezzotint.jobs.store import JobStore, Opened
from mezzotint.jobs.task_run import failure_of

PATIENCE = 60.0  # seconds; generous, for busy machines
KINDS = {
    one.kind: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.MezzotintError)
}


class Died(BaseException):
    """Simulated process death: nothing is reported or written."""


class MortalStore:
    """The queue of a process that may die: afterwards every access raises Died."""

    def __init__(self, store, is_dead):
        self._store, self._is_dead = store, is_dead

    def __getattr__(self, name):
        if self._is_dead():
            raise Died
        return getattr(self._store, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._store.close()


class Process:
    """One drain on a separate thread; the drain and the test alternate."""

    def __init__(self, asked, is_cancelled, left):
        self.asked, self.is_cancelled, self.left = asked, is_cancelled, left
        self.turn = None  # (method, params) waiting for the test's answer
        self.messages = []  # to the window, in order
        self.dead = False
        self._done = threading.Event()
        self._say: Any = None  # action the test wants on this thread
        self._spoken = threading.Semaphore(0)
        self.methods = QueueMethods(lambda: self, open_store=self._open)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        self.wait()

    def _open(self):
        return Opened(store=MortalStore(JobStore.open().store, lambda: self.dead), notice=None)

    def _run(self):
        try:
            result = self.methods.drain(self.asked.params, self._tell, self.is_cancelled)
            self.messages.append((self.asked.then, result))
        except Died:
            pass
        except Exception as error:  # noqa: BLE001  as the process does
            self.messages.append((self.asked.failed, failure_of(error)))
        finally:
            self._done.set()

    def _tell(self, event):
        self.messages.append((self.asked.on_event, event))

    def generate(self, request, on_event, cancelled):
        return self._ask_the_test("generate", request, on_event, cancelled)

    def decode(self, request, on_event, cancelled):
        return self._ask_the_test("decode", request, on_event, cancelled)

    def _ask_the_test(self, method, params, on_event, cancelled):
        self.left.append((method, params))
        self.turn, answer = (method, params), None
        try:
            while answer is None:
                self._done.set()
                assert self._spoken.acquire(timeout=PATIENCE), "the test has ended"
                answer = self._say(on_event, cancelled)
        finally:
            self.turn = None
        return answer

    def say(self, act):
        """Run `act` on the drain's thread; an error or a value other than None ends the drain's turn."""
        self._done.clear()
        self._say = act
        self._spoken.release()
        self.wait()

    def wait(self):
        assert self._done.wait(PATIENCE), "the drain hangs"

    def die(self):
        self.dead = True
        if self.turn is not None:
            self.say(_raise(Died()))
        self.thread.join(PATIENCE)


def _raise(error):
    def act(_on_event, _cancelled):
        raise error

    return act


class DrainedEngine(FakeSupervised):
    """`pump` lets the drain work and delivers its messages to the window."""

    def __init__(self):
        super().__init__()
        self.made = []  # (method, params) that the engine was asked for
        self.process = None
        self.refusal = None
        self.lost = ()  # messages to lose
        self._waiting = []

    def ask(self, method, params=None, **words):
        call = super().ask(method, params, **words)
        if method == "drain":
            self._waiting.append(self.asked[-1])
        elif method == "drain_settings":
            self.process.methods.change_settings(params)
            self.asked[-1].open = False
        return call

    def pump(self):
        while self._waiting or (self.process is not None and self.process.messages):
            self._begin()
            self._deliver()

    def _begin(self):
        if self._waiting:
            assert self.process is None or self.process.turn is None, "two drains at once"
            asked = self._waiting.pop(0)
            if self.refusal is not None:
                kind, message = self.refusal
                self.refusal = None
                self.fail(kind, message, call=asked.call)
            elif asked.open:
                self.process = Process(asked, lambda: asked.call in self.cancelled, self.made)

    def _deliver(self):
        messages = self.process.messages if self.process is not None else []
        while messages:
            tell, value = messages.pop(0)
            if tell in (self.process.asked.then, self.process.asked.failed):
                self.process.asked.open = False
            if not isinstance(value, self.lost):
                tell(value)

    # ---- the test's actions on the image being generated

    def event(self, event, method=None, call=None):
        self._say(lambda on_event, _: on_event(event))

    def answer(self, value, method=None, call=None):
        self._say(lambda _on_event, _: value, method)

    def fail(self, kind="failed", message="it did not work", method=None, call=None):
        if call is not None or self.process is None or self.process.turn is None:
            super().fail(kind, message, call=call)
        else:
            self._say(_raise(error_of(kind, message)), method)

    def is_told_to_stop(self):
        heard = []
        self._say(lambda _, cancelled: heard.append(cancelled()))
        return heard[0]

    def _say(self, act, method=None):
        self.pump()
        assert self.process is not None and self.process.turn is not None, "nothing is being made"
        assert method in (None, self.process.turn[0]), self.process.turn
        self.process.say(act)
        self.pump()

    def die(self, message="The engine crashed (signal 11).", state="restarting"):
        self.pump()
        if self.process is not None:
            self.process.die()
            self.process = None
        super().die(message, state)
        self.pump()

    def end(self):
        """End the thread after the test."""
        if self.process is not None:
            self.process.die()


def error_of(kind, message):
    if kind not in KINDS:
        return RuntimeError(message)
    error = KINDS[kind](message)
    if kind == "storage" and "disk is full" in message:
        error.__cause__ = OSError(ENOSPC, "No space left on device")
    return error
