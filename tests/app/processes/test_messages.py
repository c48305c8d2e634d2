"""What a process writes is cut into lines and read, whatever it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.codec import encode
from mezzotint.errors import MezzotintError
from mezzotint.protocol import Encoding, MemoryNow, ModelRef, Notice, Progress
from mezzotint.queue_protocol import JobEvent as AnyJobEvent
from mezzotint.training_protocol import EpochSaved, TrainingStep
from mezzotint_app.processes import messages
from mezzotint_app.processes.messages import (
    Answer,
    ErrorResponse,
    InvalidMessage,
    JobEvent,
    LineBuffer,
    TooLong,
    call_line,
    read_messages,
)

MEMORY = MemoryNow(
    ram_bytes=1, ram_free_bytes=2, ram_total_bytes=3, vram_bytes=None, vram_free_bytes=None, vram_total_bytes=None
)


def read(*data, answers=None):
    lines = [one if isinstance(one, bytes | TooLong) else json.dumps(one).encode() for one in data]
    return read_messages(lines, {1: None} if answers is None else answers)


@given(st.binary(max_size=400), st.lists(st.integers(1, 50), max_size=30))
def test_lines_do_not_depend_on_how_bytes_come(data, cuts):
    whole = LineBuffer(most=20).feed(data + b"\n")
    buffer, pieces, rest = LineBuffer(most=20), [], data + b"\n"
    for cut in cuts:
        pieces += buffer.feed(rest[:cut])
        rest = rest[cut:]
    pieces += buffer.feed(rest)
    assert [one if isinstance(one, bytes) else "long" for one in pieces] == [
        one if isinstance(one, bytes) else "long" for one in whole
    ]
    expected = [line for line in data.split(b"\n") if line.strip() or len(line) > 20]
    assert [one for one in pieces if isinstance(one, bytes)] == [line for line in expected if len(line) <= 20]
    assert len(pieces) == len(expected)


def test_a_line_that_is_too_long_is_not_kept_and_its_beginning_is():
    buffer = LineBuffer(most=1000)
    for _ in range(1000):
        assert buffer.feed(b"x" * 1000) == []
        assert len(buffer._begun) <= 1000
    assert buffer.skipped_bytes >= 999_000
    (line, after) = buffer.feed(b"\nnext\n")
    assert isinstance(line, TooLong) and line.head == b"x" * 200
    assert after == b"next" and buffer.skipped_bytes == 0


def test_an_answer_is_decoded_to_what_was_asked_for():
    assert read({"jsonrpc": "2.0", "id": 1, "result": encode(MEMORY)}, answers={1: MemoryNow}) == [
        Answer(call=1, value=MEMORY)
    ]
    assert read({"jsonrpc": "2.0", "id": 1, "result": ["x"]}, answers={1: tuple[str, ...]}) == [
        Answer(call=1, value=("x",))
    ]
    assert read({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}) == [Answer(call=1, value={"a": 1})]


def test_an_error_is_told_with_its_kind():
    error = {"code": -1, "message": "no", "data": {"kind": "storage", "exit_code": 7, "message": "the disk is full"}}
    (refusal,) = read({"jsonrpc": "2.0", "id": 1, "error": error})
    assert isinstance(refusal, ErrorResponse)
    assert (refusal.failure.kind, refusal.failure.message) == ("storage", "the disk is full")


@pytest.mark.parametrize("error", [None, "x", 3, {}, {"data": 1}, {"message": 4, "data": {"kind": 3}}])
def test_an_error_of_another_shape_still_ends_its_call(error):
    (refusal,) = read({"jsonrpc": "2.0", "id": 1, "error": error})
    assert isinstance(refusal, ErrorResponse) and refusal.failure.kind == "failed" and refusal.failure.message


STEP = TrainingStep(step=1, steps=2, loss=0.5, rate=1e-3, seconds=0.2)
EPOCH = EpochSaved(epoch=1, step=2, path="/a.safetensors", validation=None, samples=("/a.png",))


@pytest.mark.parametrize("event", [Encoding(stage=0, stages=1), Notice(code="a", message="b"), STEP, EPOCH])
def test_events_are_told_of_their_job(event):
    message = {"jsonrpc": "2.0", "method": "event", "params": {"job": 1, "event": encode(event)}}
    assert read(message) == [JobEvent(call=1, event=event)]


@pytest.mark.parametrize(
    "data",
    [
        b"Segmentation fault",
        b"{",
        b"\xff\xfe",
        b"[" * 5000,
        b"[]",
        b"null",
        b'{"id": NaN}',
        {"jsonrpc": "2.0", "id": 2, "result": 1},
        {"jsonrpc": "2.0", "id": True, "result": 1},
        {"jsonrpc": "2.0", "id": "1", "result": 1},
        {"jsonrpc": "2.0", "id": None, "error": {"message": "?"}},
        {"jsonrpc": "2.0", "method": "event", "params": {"job": 9, "event": {}}},
        {"jsonrpc": "2.0", "method": "event", "params": {"job": 1, "event": {"type": "Nothing"}}},
        {"jsonrpc": "2.0", "method": "event", "params": [1]},
        {"jsonrpc": "2.0", "method": "event"},
        TooLong(head=b"aaaa"),
    ],
)
def test_what_is_no_message_is_told_and_ends_no_call(data):
    (garbage,) = read(data)
    assert isinstance(garbage, InvalidMessage) and garbage.call is None and garbage.problem


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": 1, "resu{"jsonrpc": "2.0", "method": "event"}',
        TooLong(head=b'{"jsonrpc": "2.0", "id": 1, "result": ["aaaaaaa'),
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"not": "memory"}}).encode(),
        json.dumps({"jsonrpc": "2.0", "id": 1}).encode(),
    ],
)
def test_a_broken_answer_ends_its_call(line):
    (garbage,) = read(line, answers={1: MemoryNow})
    assert isinstance(garbage, InvalidMessage) and garbage.call == 1


def test_a_result_that_speaks_of_events_is_still_a_result():
    broken = b'{"jsonrpc": "2.0", "id": 1, "result": {"method": "event'
    (garbage,) = read(broken)
    assert garbage.call == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": st.sampled_from([1, 2, None, True, "1", 1.0, [1]]),
        "method": st.sampled_from(["event", "x", 3]),
        "params": st.fixed_dictionaries({}, optional={"job": st.sampled_from([1, 2, None]), "event": JSON}) | JSON,
        "result": JSON,
        "error": JSON,
    },
)


@given(st.lists(st.binary(max_size=60) | SHAPED.map(lambda data: json.dumps(data).encode()), max_size=5))
def test_anything_at_all_is_read_one_message_for_a_line(lines):
    found = read_messages(lines, {1: MemoryNow, 2: None})
    assert len(found) == len(lines)
    assert all(isinstance(one, Answer | ErrorResponse | JobEvent | InvalidMessage) for one in found)
    assert all(isinstance(one.event, AnyJobEvent) for one in found if isinstance(one, JobEvent))


@given(st.text(), st.integers(1, 10**9))
def test_a_call_is_one_line_that_says_it_all(prompt, call):
    line = call_line(call, "generate", ModelRef(id=prompt))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    message = json.loads(line)
    assert message == {
        "jsonrpc": "2.0",
        "id": call,
        "method": "generate",
        "params": {"id": prompt, "sha256": None, "vae": None, "text_encoders": []},
    }


def test_a_call_that_nobody_could_read_is_not_written(monkeypatch):
    with pytest.raises(MezzotintError):
        call_line(1, "x", object())
    monkeypatch.setattr(messages, "MAX_LINE", 1000)
    with pytest.raises(MezzotintError, match="too long"):
        call_line(1, "x", {"prompt": "y" * 1000})


def test_progress_comes_through():
    event = Progress(what="a", done=1, total=None, unit="bytes")
    params = {"job": 1, "event": encode(event)}
    assert read({"jsonrpc": "2.0", "method": "event", "params": params}) == [JobEvent(call=1, event=event)]
