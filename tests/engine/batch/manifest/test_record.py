"""What a manifest says of one task."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.manifest.record import STATUSES, Record, is_record, line_of, read_lines
from mezzotint.codec import decode

texts = st.text(st.characters(), max_size=20)
records = st.builds(
    Record,
    key=texts,
    status=st.sampled_from(STATUSES),
    output=texts,
    input=st.none() | texts,
    seed=st.none() | st.integers(0, 2**63 - 1),
    error=st.none() | texts,
    seconds=st.none() | st.floats(0, 1e6),
    engine=st.dictionaries(texts, texts, max_size=3),
)


@given(records)
def test_a_line_holds_all_of_a_record_whatever_is_in_it(record):
    line = line_of(record)
    assert line.count(b"\n") == 1 and line.endswith(b"\n") and line.isascii()
    value = json.loads(line)
    assert is_record(value)
    assert decode(Record, value) == record


@pytest.mark.parametrize("value", [{}, {"key": "a"}, {"key": 1, "status": "done", "output": ""}, {"begun": "a"}])
def test_other_lines_are_no_records(value):
    assert not is_record(value)


def test_damaged_lines_are_told_and_torn_ones_left_out(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b'{"a": 1}\n\n[2]\n\xff\xfe\n' + b"[" * 5000 + b'\n{"b": 2}\n{"c": ')
    lines = list(read_lines(path))
    assert [line.value for line in lines] == [{"a": 1}, None, None, None, {"b": 2}]
    assert path.read_bytes()[: lines[-1].end].endswith(b'{"b": 2}\n')
