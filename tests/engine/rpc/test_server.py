"""JSON-RPC from a table of methods: turns, jobs beside each other, cancelling, whatever is raised."""

import contextlib
import json
import os
import signal
import threading
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.codec import decode, decode_event
from mezzotint.errors import Cancelled, StorageError
from mezzotint.library_protocol import ThumbnailRequest
from mezzotint.protocol import SCHEMA_VERSION, EngineInfo, Notice
from mezzotint.rpc.connection import Connection
from mezzotint.rpc.process import ignore_interrupts
from mezzotint.rpc.server import Lane, Method, RpcServer

SAYS = Notice(code="said", message="hello")


class Panic(BaseException):
    """As those of Rust come to Python."""


class Client:
    """The other end of the pipes, with methods that wait for events of their own."""

    def __init__(self, max_jobs=3):
        calls, into = os.pipe()
        out, answers = os.pipe()
        self._calls, self._answers = os.fdopen(into, "wb", buffering=0), os.fdopen(out, "rb")
        self.let_go = threading.Event()
        self.began = {}
        self.seen = []
        self.errors = []
        self._reader, self._writer = os.fdopen(calls, "rb"), os.fdopen(answers, "wb")
        self.finished = None
        self.server = RpcServer(
            Connection(self._reader, self._writer),
            self._methods(),
            versions=lambda: {"mezzotint": "0"},
            max_jobs=max_jobs,
            on_error=self.errors.append,
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _methods(self):
        return {
            "echo": Method(params=ThumbnailRequest, run=lambda asked, tell, stop: asked),
            "nothing": Method(params=None, run=lambda *_: None),
            "say": Method(params=None, run=lambda _, tell, stop: tell(SAYS)),
            "hold": Method(params=None, run=lambda *_: self.hold("hold")),
            "apart": Method(params=None, run=lambda *_: self.hold("apart"), lane="apart"),
            "image": Method(params=ThumbnailRequest, run=self._image, lane="newest first"),
            "job": Method(params=ThumbnailRequest, run=self._job, job=True),
            "waits": Method(params=ThumbnailRequest, run=self._job, lane="waiting"),
            "panic": Method(params=None, run=lambda *_: self.fail(Panic("no"))),
            "deep": Method(params=None, run=lambda *_: self.fail(RecursionError())),
            "memory": Method(params=None, run=lambda *_: self.fail(MemoryError())),
            "storage": Method(params=None, run=lambda *_: self.fail(StorageError("the disk is full"))),
            "shapeless": Method(params=None, run=lambda *_: object()),
        }

    def fail(self, error):
        raise error

    def hold(self, name):
        self.event(name).set()
        assert self.let_go.wait(60)

    def event(self, name):
        return self.began.setdefault(name, threading.Event())

    def _image(self, asked, tell, cancelled):
        self.seen.append(asked.path)
        if asked.path.startswith("hold"):
            self.hold(asked.path)
        return asked

    def _job(self, asked, tell, cancelled):
        tell(SAYS)
        self.event(asked.path).set()
        while not cancelled():
            if self.let_go.wait(0.01):
                return asked
        raise Cancelled("stopped")

    def _run(self):
        self.finished = self.server.run()
        self._reader.close()
        with contextlib.suppress(OSError):
            self._writer.close()

    def call(self, call_id, method, params=None):
        call = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
        self._calls.write(json.dumps(call).encode() + b"\n")

    def notify(self, method, params=None):
        self._calls.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def read(self):
        line = self._answers.readline()
        return json.loads(line) if line else None

    def answers(self, *ids):
        """The answers to those calls; what else comes is dropped."""
        found = {}
        while set(ids) - found.keys():
            message = self.read()
            assert message is not None, f"only {found} came"
            if "method" not in message:
                found[message["id"]] = message
        return [found[one] for one in ids]

    def end(self):
        self.let_go.set()
        with contextlib.suppress(OSError):
            self._calls.close()
        self._thread.join()
        self._answers.close()


@pytest.fixture
def client():
    client = Client()
    yield client
    client.end()


def image(path):
    return {"path": path, "side": 8}


def kind_of(answer):
    return answer["error"]["data"]["kind"]


def test_what_it_is(client):
    client.call(1, "initialize", {"schema_version": SCHEMA_VERSION})
    (answer,) = client.answers(1)
    assert decode(EngineInfo, answer["result"]).versions == {"mezzotint": "0"}


def test_params_are_decoded_and_results_encoded(client):
    client.call(1, "echo", image("a"))
    client.call(2, "echo", {"path": 5})
    client.call(3, "nothing", {"a": 1})
    client.call(4, "nothing", {})
    first, second, third, fourth = client.answers(1, 2, 3, 4)
    assert first["result"] == image("a")
    assert (second["error"]["code"], kind_of(second)) == (-32602, "protocol")
    assert kind_of(third) == "protocol" and "takes no params" in third["error"]["message"]
    assert fourth["result"] is None


@pytest.mark.parametrize(
    ("method", "kind"),
    [("panic", "bug"), ("deep", "bug"), ("memory", "out_of_memory"), ("storage", "storage"), ("shapeless", "protocol")],
)
def test_whatever_is_raised_is_told_in_one_line_and_work_goes_on(client, method, kind):
    client.call(1, method)
    client.call(2, "nothing")
    first, second = client.answers(1, 2)
    assert kind_of(first) == kind and "\n" not in first["error"]["message"]
    assert second["result"] is None


def test_errors_of_ours_are_handed_on(client):
    client.call(1, "storage")
    client.call(2, "nothing")
    client.answers(1, 2)
    assert [str(error) for error in client.errors] == ["the disk is full"]


def test_questions_wait_for_each_other_but_for_those_apart(client):
    client.call(1, "hold")
    client.event("hold").wait()
    client.call(2, "nothing")
    client.call(3, "apart")
    assert client.event("apart").wait(60)
    client.call(4, "image", image("a"))
    client.call(5, "job", image("job"))
    (answer,) = client.answers(4)
    assert answer["result"] == image("a") and client.event("job").wait(60)
    client.let_go.set()
    client.answers(1, 2, 3, 5)


def test_several_jobs_and_no_more_than_there_may_be(client):
    for number in range(3):
        client.call(number, "job", image(f"job {number}"))
        client.event(f"job {number}").wait()
    client.call("more", "job", image("more"))
    client.call(1, "job", image("again"))
    more, *_ = client.answers("more", 1)
    assert kind_of(more) == "busy"
    client.call("stop", "cancel", {"job": 2})
    stopped, cancel = client.answers(2, "stop")
    assert kind_of(stopped) == "cancelled" and cancel["result"] == {"cancelled": True}
    client.call("next", "job", image("next"))
    assert client.event("next").wait(60)
    client.let_go.set()
    assert [answer["result"]["path"] for answer in client.answers(0, "next")] == ["job 0", "next"]


def test_events_name_their_job(client):
    client.call("a", "job", image("a"))
    message = client.read()
    assert message["method"] == "event" and message["params"]["job"] == "a"
    assert decode_event(message["params"]["event"]) == SAYS
    client.call("b", "say")
    assert client.read()["params"]["job"] == "b"


def hold_all(client):
    """Take all threads for images, so that what follows waits."""
    lane = client.server._lanes["newest first"]
    for number in range(lane._max_threads):
        client.call(f"hold {number}", "image", image(f"hold {number}"))
        assert client.event(f"hold {number}").wait(60)
    return [f"hold {number}" for number in range(lane._max_threads)]


def test_the_newest_image_is_first(client):
    held = hold_all(client)
    for number in range(20):
        client.call(number, "image", image(str(number)))
    client.call("marker", "nothing")
    client.answers("marker")  # all calls before it were read
    client.let_go.set()
    answers = client.answers(*held, *range(20))
    assert [answer["result"]["path"] for answer in answers] == [*held, *map(str, range(20))]
    assert client.seen[len(held)] != "0" and client.seen[-1] != "19"  # two threads may pass each other


def test_an_image_that_nobody_wants_any_more_is_not_made(client):
    hold_all(client)
    client.call("unwanted", "image", image("unwanted"))
    client.call("again", "image", image("again"))
    client.call(1, "cancel", {"job": "unwanted"})
    unwanted, answer = client.answers("unwanted", 1)  # at once, while all threads are held
    assert kind_of(unwanted) == "cancelled" and answer["result"] == {"cancelled": True}
    client.call(2, "cancel", {"job": "unwanted"})
    assert client.answers(2)[0]["result"] == {"cancelled": False}
    client.let_go.set()
    client.answers("again")
    assert "unwanted" not in client.seen


def test_questions_that_wait_for_others_hold_nothing_up_and_can_be_cancelled(client):
    for number in range(4):
        client.call(number, "waits", image(f"waits {number}"))
        assert client.event(f"waits {number}").wait(60)
    client.call("beyond", "waits", image("beyond"))
    client.call("p", "image", image("p"))
    client.call("n", "nothing")
    client.answers("p", "n")
    client.call("c", "cancel", {"job": "beyond"})
    client.call("d", "cancel", {"job": 0})
    assert {kind_of(answer) for answer in client.answers("beyond", 0)} == {"cancelled"}
    client.let_go.set()
    client.answers(1, 2, 3)


@pytest.mark.parametrize("params", [None, {}, {"job": 1, "more": 2}, [1]])
def test_cancel_of_a_wrong_shape(client, params):
    client.call(1, "cancel", params)
    assert kind_of(client.answers(1)[0]) == "protocol"


@pytest.mark.parametrize("job", [True, None, [], {}, 1.5, "absent"])
def test_cancel_of_what_is_not_there(client, job):
    client.call(1, "job", image("one"))
    client.event("one").wait()
    client.call(2, "cancel", {"job": job})
    assert client.answers(2)[0]["result"] == {"cancelled": False}


def test_an_id_that_is_being_answered_is_not_taken_twice(client):
    client.call(1, "job", image("one"))
    client.event("one").wait()
    client.call(1, "image", image("two"))
    assert kind_of(client.answers(1)[0]) == "busy"


def test_the_end_stops_what_waits_and_what_runs():
    client = Client()
    held = hold_all(client)
    for number in range(50):
        client.call(number, "image", image(str(number)))
    client.call("job", "job", image("job"))
    client.event("job").wait()
    client.call("bye", "shutdown")
    answers = client.answers("bye", "job", *range(50))  # while all threads are held
    assert {kind_of(answer) for answer in answers[1:]} == {"cancelled"}
    client.let_go.set()
    client.answers(*held)
    client.end()
    assert client.finished is True


def test_notifications_are_done_without_an_answer(client):
    client.notify("image", image("told"))
    client.notify("storage")
    client.notify("echo", {"path": 5})
    client.call(1, "nothing")
    assert client.read()["id"] == 1


def test_a_reader_that_went_away_ends_it():
    client = Client()
    client.call(1, "job", image("one"))
    client.event("one").wait()
    client._answers.close()
    client.call(2, "nothing")
    client.call(3, "nothing")
    client.end()
    assert client.finished is True


# ---- lanes


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 4), st.booleans())
def test_a_lane_does_each_task_once_whatever_is_taken_back(tasks, threads, newest_first):
    lane = Lane("test", threads, newest_first=newest_first)
    done, taken, lock = [], [], threading.Lock()

    def task(number):
        with lock:
            done.append(number)

    for number, key in enumerate(tasks):
        lane.submit(partial(task, number), key=number)
        if key == 0 and lane.withdraw(number) is not None:
            taken.append(number)
    assert lane.stop(60)
    assert sorted(done + taken) == list(range(len(tasks)))


def test_one_thread_does_all_of_a_lane_in_order():
    lane = Lane("test")
    seen = []

    def note(number):
        seen.append((number, threading.get_ident()))

    for number in range(100):
        lane.submit(partial(note, number))
    assert lane.stop(60)
    assert [number for number, _ in seen] == list(range(100)) and len({thread for _, thread in seen}) == 1


def test_the_newest_is_first_where_that_is_asked():
    lane, let_go, began, seen = Lane("test", newest_first=True), threading.Event(), threading.Event(), []

    def hold():
        began.set()
        let_go.wait()

    lane.submit(hold)
    began.wait()
    for number in range(9):
        lane.submit(partial(seen.append, number))
    let_go.set()
    assert lane.stop(60) and seen == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_threads_start_when_they_are_needed():
    before = threading.active_count()
    lane = Lane("test", 8)
    assert threading.active_count() == before
    done = threading.Event()
    lane.submit(done.set)
    assert done.wait(60) and threading.active_count() <= before + 1
    assert lane.stop(60) and threading.active_count() == before


def test_a_lane_that_is_held_says_so():
    lane, let_go, began = Lane("test"), threading.Event(), threading.Event()

    def hold():
        began.set()
        let_go.wait()

    lane.submit(hold)
    began.wait()
    assert not lane.stop(0.01)
    let_go.set()
    assert lane.stop(60)


def test_ctrl_c_is_left_to_who_started_the_process():
    before = signal.getsignal(signal.SIGINT)
    try:
        ignore_interrupts()
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
