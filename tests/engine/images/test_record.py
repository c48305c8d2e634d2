from collections.abc import Callable

import pytest

from mezzotint.errors import ProtocolError
from mezzotint.images.record import ImageRecord, record_from_json, record_to_json


def test_a_record_comes_back_equal(make_record: Callable[..., ImageRecord]) -> None:
    record = make_record(prompt="海 🏠\x00\udce9\n", negative_prompt='"quoted"')
    assert record_from_json(record_to_json(record)) == record


def test_a_record_is_ascii(make_record: Callable[..., ImageRecord]) -> None:
    text = record_to_json(make_record(prompt="海\n\x07"))
    assert text.isascii() and text.isprintable()


def test_anything_else_is_refused() -> None:
    with pytest.raises(ProtocolError):
        record_from_json('{"schema_version": 1}')
