"""The codec: what goes out comes back equal, and nothing of the wrong shape comes in."""

import dataclasses
import json
import typing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mezzotint import batch_protocol, protocol, queue_protocol, training_protocol
from mezzotint.codec import (
    MAX_DEPTH,
    decode,
    decode_drain_event,
    decode_event,
    decode_job_event,
    encode,
    from_json,
    parse_json,
    to_json,
)
from mezzotint.errors import ProtocolError
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint, Notice, Stage, Step
from mezzotint.queue_protocol import DrainEvent, JobEvent

BOUNDARIES = (protocol, batch_protocol, queue_protocol, training_protocol)
TYPES = {name: cls for one in BOUNDARIES for name, cls in vars(one).items()}
BOUNDARY = [cls for cls in TYPES.values() if dataclasses.is_dataclass(cls)]
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def values(cls):
    """Every field drawn from its type, none left to its default."""
    hints = typing.get_type_hints(cls)
    return st.builds(cls, **{name: drawn(hint) for name, hint in hints.items()})


def drawn(hint):
    arguments = typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return values(hint)
    if typing.get_origin(hint) is tuple and arguments[-1] is Ellipsis:
        return st.lists(drawn(arguments[0]), max_size=3).map(tuple)
    if arguments == (str, object):
        return st.dictionaries(st.text(), ANY_JSON, max_size=3)
    if arguments and typing.get_origin(hint) not in (tuple, dict, typing.Literal):
        return st.one_of([drawn(one) for one in arguments])
    return st.from_type(hint)


@pytest.mark.parametrize("cls", BOUNDARY, ids=lambda cls: cls.__name__)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_type_of_the_boundary_round_trips(cls, data):
    value = data.draw(values(cls))
    text = to_json(value)
    assert "\n" not in text
    assert text.isascii()
    assert from_json(cls, text) == value


@settings(max_examples=60, deadline=None)
@given(event=st.one_of([values(cls) for cls in typing.get_args(DrainEvent)]))
def test_events_are_told_apart_by_their_type(event):
    data = json.loads(json.dumps(encode(event)))
    assert data["type"] == type(event).__name__
    assert decode_drain_event(data) == event


@settings(max_examples=60, deadline=None)
@given(event=st.one_of([values(cls) for cls in typing.get_args(JobEvent)]))
def test_events_of_any_job_are_told_apart_by_their_type(event):
    assert decode_job_event(json.loads(json.dumps(encode(event)))) == event


def test_defaults_fill_what_is_left_out():
    assert decode(GenerateRequest, {"prompt": "a barn"}) == GenerateRequest(prompt="a barn")


def test_an_int_is_taken_for_a_float():
    weight = decode(ImageInput, {"path": "a.png", "weight": 1}).weight
    assert weight == 1.0
    assert isinstance(weight, float)


REFUSED = [
    ({}, "prompt: missing field of GenerateRequest"),
    ([], "expected an object, got a list"),
    (None, "expected an object, got null"),
    ({"prompt": 3}, "prompt: expected str, got 3"),
    ({"prompt": "a", "promt": 1}, "promt: unknown field of GenerateRequest"),
    ({"prompt": "a", "a b\n": 1}, '"a b\\n": unknown field of GenerateRequest'),
    ({"prompt": "a", "count": True}, "count: expected int, got true"),
    ({"prompt": "a", "count": 1.0}, "count: expected int, got 1.0"),
    ({"prompt": "a", "previews": 1}, "previews: expected bool, got 1"),
    ({"prompt": "a", "strength": False}, "strength: expected float, got false"),
    ({"prompt": "a", "strength": float("nan")}, "strength: expected a finite number, got NaN"),
    ({"prompt": "a", "strength": 10**400}, "strength: expected a finite number, got a huge integer"),
    ({"prompt": "a", "dtype": "int8"}, 'dtype: expected one of "auto", "float32", "bfloat16", "float16", got "int8"'),
    ({"prompt": "a", "dtype": ["auto"]}, 'dtype: expected one of "auto", "float32", "bfloat16", "float16", got a list'),
    ({"prompt": "a", "embeddings": "x"}, 'embeddings: expected a list, got "x"'),
    (
        {"prompt": "a", "cascade": {"stages": [{"width": "x" * 100}]}},
        f'cascade.stages[0].width: expected int, got "{"x" * 60}"...',
    ),
    ({"prompt": "a", "images": [{"path": "p", "interval": [0]}]}, "images[0].interval: expected a list of 2, got 1"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_wrong_shape_is_refused_by_its_path(data, message):
    with pytest.raises(ProtocolError) as caught:
        decode(GenerateRequest, data)
    assert str(caught.value) == message


def test_a_dict_of_words_takes_only_words():
    info = {"schema_version": 1, "version": "1", "versions": {"torch": 2}, "devices": [], "threads": 1}
    with pytest.raises(ProtocolError, match=r"^versions.torch: expected str, got 2$"):
        decode(protocol.EngineInfo, info)


@pytest.mark.parametrize("tag", ["Stepp", None, 3, ["Step"], {}])
def test_an_unknown_event_is_refused(tag):
    with pytest.raises(ProtocolError, match=r'^type: expected one of "Loading", "Encoding", "Step"'):
        decode_event({"type": tag, "code": "a", "message": "b"})


def test_an_event_without_its_type_is_refused():
    with pytest.raises(ProtocolError, match='type: expected "Notice"'):
        decode(Notice, {"code": "a", "message": "b"})


def test_decoding_leaves_its_input_alone():
    data = encode(Notice(code="a", message="b"))
    decode(Notice, data)
    assert data == {"type": "Notice", "code": "a", "message": "b"}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_lacks_is_not_written(number):
    step = Step(image=0, images=1, stage=0, stages=1, step=1, steps=1, sigma=number, preview=None)
    with pytest.raises(ProtocolError, match="sigma: expected a finite number"):
        encode(step)


def test_endless_nesting_is_not_written():
    endless = []
    endless.append(endless)
    with pytest.raises(ProtocolError, match=f"nested more than {MAX_DEPTH} deep"):
        encode(endless)


@pytest.mark.parametrize("value", [object(), {1: 2}, b"x", Stage])
def test_what_has_no_json_is_not_written(value):
    with pytest.raises(ProtocolError):
        encode(value)


TEXTS = [
    "",
    "{",
    "NaN",
    "1e999",
    '{"a": [-1e400]}',
    '{"a": Infinity}',
    "[" * 100_000,
    "1" * 10_000,
    '{"a": 1, "a": 2}',
    b"\xff\xfe\xfd",
    "{} {}",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_that_is_no_plain_json_is_refused_in_one_line(text):
    with pytest.raises(ProtocolError) as caught:
        parse_json(text)
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
NAMES = st.sampled_from([field.name for field in dataclasses.fields(GenerateRequest)])


@settings(deadline=None, max_examples=60)
@given(data=JSON | st.dictionaries(NAMES, JSON))
def test_any_json_gives_a_request_or_a_protocol_error(data):
    try:
        request = decode(GenerateRequest, data)
    except ProtocolError as error:
        assert "\n" not in str(error)
    else:
        assert decode(GenerateRequest, encode(request)) == request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unsuitable:
    when: bytes


def test_a_type_that_no_json_stands_for_is_a_bug():
    with pytest.raises(TypeError, match="a type that the codec does not support"):
        decode(Unsuitable, {"when": "now"})


def test_words_of_earlier_versions_are_read():
    read = decode(Inpaint, {"fill": "picture"})
    assert read.fill == "original" and encode(read)["fill"] == "original"
