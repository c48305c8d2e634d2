"""Convert the protocol's dataclasses to JSON values and back, strictly. Standard library only."""

import dataclasses
import json
import math
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from mezzotint.errors import ProtocolError
from mezzotint.protocol import Event
from mezzotint.queue_protocol import DrainEvent, JobEvent
from mezzotint.request_protocol import EARLIER_FILLS, InpaintFill

T = TypeVar("T")

MAX_DEPTH = 32  # the protocol's own types nest seven deep

_TAG = "type"
_TAGGED: dict[object, str] = {cls: cls.__name__ for cls in get_args(JobEvent)}
_EARLIER: Mapping[tuple[object, ...], Mapping[str, str]] = {get_args(InpaintFill): EARLIER_FILLS}
_SHOWN = 60  # characters of an invalid value shown in a message


def encode(value: object) -> object:
    """Convert a protocol value to what `json.dumps` takes; an event carries its class name as `type`."""
    return _encode(value, "", 0)


def decode(cls: type[T], data: object) -> T:
    """Decode `data` to a `cls`; refuses unknown, missing and invalid fields, and fills in defaults."""
    return cast(T, _decode(cls, data, ""))


def decode_event(data: object) -> Event:
    """Decode an event, selected by its `type`."""
    return cast(Event, _decode(Event, data, ""))


def decode_drain_event(data: object) -> DrainEvent:
    """Decode an event of draining the queue: of a task, or of the queue."""
    return cast(DrainEvent, _decode(DrainEvent, data, ""))


def decode_job_event(data: object) -> JobEvent:
    """Decode an event of any job."""
    return cast(JobEvent, _decode(JobEvent, data, ""))


def to_json(value: object) -> str:
    """Convert a protocol value to one line of ASCII JSON."""
    return json.dumps(encode(value), allow_nan=False)


def from_json(cls: type[T], text: str | bytes) -> T:
    """Decode a JSON text to a `cls`."""
    return decode(cls, parse_json(text))


def parse_json(text: str | bytes) -> object:
    """Parse a JSON text to plain values; refuses NaN, endless numbers, repeated names and nesting too deep."""
    try:
        return json.loads(
            text, parse_float=_finite, parse_constant=_refuse_constant, object_pairs_hook=_unrepeated
        )  # fmt: skip
    except RecursionError:
        raise ProtocolError("The JSON is nested too deeply.") from None
    except ValueError as error:  # also UnicodeDecodeError, and integers with too many digits
        raise ProtocolError(f"Invalid JSON: {error}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ProtocolError(f"Invalid JSON: {name} is not a JSON number.")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ProtocolError(f"Invalid JSON: {digits[:_SHOWN]} is too large a number.")
    return number


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ProtocolError("Invalid JSON: a name is repeated in an object.")
    return found


def _fail(path: str, message: str) -> NoReturn:
    raise ProtocolError(f"{path}: {message}" if path else message)


def _expected(path: str, what: str, data: object) -> NoReturn:
    _fail(path, f"expected {what}, got {_shown(data)}")


def _shown(data: object) -> str:
    """A value for a message; containers only by kind, as their contents can be endless."""
    if data is None or isinstance(data, bool | float | str):
        text = json.dumps(data if not isinstance(data, str) else data[:_SHOWN])
        return text if not isinstance(data, str) or len(data) <= _SHOWN else f"{text}..."
    if isinstance(data, int):
        return str(data) if data.bit_length() <= 128 else "a huge integer"
    if isinstance(data, Mapping):
        return "an object"
    return "a list" if isinstance(data, list | tuple) else type(data).__name__


def _member(path: str, name: str) -> str:
    name = name if name.isidentifier() else json.dumps(name[:_SHOWN])
    return f"{path}.{name}" if path else name


def _encode(value: object, path: str, depth: int) -> object:
    if depth > MAX_DEPTH:
        _fail(path, f"nested more than {MAX_DEPTH} deep")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _expected(path, "a finite number", value)
    if isinstance(value, tuple | list):
        return [_encode(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(name, path): _encode(item, _member(path, str(name)), depth + 1) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode_fields(value, path, depth)
    _fail(path, f"{type(value).__name__} cannot be written as JSON")


def _encode_fields(value: object, path: str, depth: int) -> dict[str, object]:
    tag = _TAGGED.get(type(value))
    written: dict[str, object] = {} if tag is None else {_TAG: tag}
    for field in dataclasses.fields(cast(Any, value)):
        written[field.name] = _encode(getattr(value, field.name), _member(path, field.name), depth + 1)
    return written


def _key(name: object, path: str) -> str:
    return name if isinstance(name, str) else _expected(path, "text as name", name)


def _decode(hint: object, data: object, path: str) -> object:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _decode_union(get_args(hint), data, path)
    if origin is Literal:
        return _decode_literal(get_args(hint), data, path)
    if origin is tuple:
        return _decode_tuple(get_args(hint), data, path)
    if origin is dict:
        return _decode_dict(get_args(hint)[1], data, path)
    if dataclasses.is_dataclass(hint):
        return _decode_fields(cast(type, hint), data, path)
    return _decode_scalar(hint, data, path)


def _decode_scalar(hint: object, data: object, path: str) -> object:
    if hint is object:  # any JSON value, checked by whoever uses it
        return data
    if hint is float and isinstance(data, int | float) and not isinstance(data, bool):
        return _decode_float(data, path)
    if hint in (str, int, bool) and type(data) is hint:  # `is`: True is not an int
        return data
    if isinstance(hint, type) and hint in (str, int, float, bool):
        _expected(path, hint.__name__, data)
    raise TypeError(f"{path}: the protocol has a type that the codec does not support: {hint}")


def _decode_float(data: float, path: str) -> float:
    try:
        number = float(data)
    except OverflowError:
        _expected(path, "a finite number", data)
    return number if math.isfinite(number) else _expected(path, "a finite number", data)


def _decode_literal(allowed: tuple[object, ...], data: object, path: str) -> object:
    if isinstance(data, str):
        data = _EARLIER.get(allowed, {}).get(data, data)
    if not isinstance(data, str) or data not in allowed:
        _expected(path, "one of " + ", ".join(json.dumps(one) for one in allowed), data)
    return data


def _decode_tuple(hints: tuple[object, ...], data: object, path: str) -> tuple[object, ...]:
    if not isinstance(data, list | tuple):
        _expected(path, "a list", data)
    if hints[-1] is Ellipsis:
        hints = (hints[0],) * len(data)
    if len(data) != len(hints):
        _fail(path, f"expected a list of {len(hints)}, got {len(data)}")
    pairs = enumerate(zip(hints, data, strict=True))
    return tuple(_decode(hint, item, f"{path}[{index}]") for index, (hint, item) in pairs)


def _decode_dict(hint: object, data: object, path: str) -> dict[str, object]:
    named = _named(data, path)
    return {name: _decode(hint, item, _member(path, name)) for name, item in named.items()}


def _named(data: object, path: str) -> dict[str, object]:
    if not isinstance(data, dict):
        _expected(path, "an object", data)
    return {_key(name, path): item for name, item in data.items()}


def _decode_union(hints: tuple[object, ...], data: object, path: str) -> object:
    if data is None and type(None) in hints:
        return None
    hints = tuple(hint for hint in hints if hint is not type(None))
    if len(hints) == 1:
        return _decode(hints[0], data, path)
    tag = _named(data, path).get(_TAG)
    for hint in hints:
        if _TAGGED.get(hint) == tag:
            return _decode(hint, data, path)
    _expected(_member(path, _TAG), "one of " + ", ".join(json.dumps(_TAGGED[hint]) for hint in hints), tag)


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _decode_fields(cls: type, data: object, path: str) -> object:
    given = _named(data, path)
    tag = _TAGGED.get(cls)
    if tag is not None and given.pop(_TAG, None) != tag:
        _fail(_member(path, _TAG), f"expected {json.dumps(tag)}")
    fields = {field.name: field for field in dataclasses.fields(cast(Any, cls))}
    for name in given:
        if name not in fields:
            _fail(_member(path, name), f"unknown field of {cls.__name__}")
    for name, field in fields.items():
        if name not in given and field.default is field.default_factory is dataclasses.MISSING:
            _fail(_member(path, name), f"missing field of {cls.__name__}")
    hints = _hints(cls)
    return cls(**{name: _decode(hints[name], item, _member(path, name)) for name, item in given.items()})
