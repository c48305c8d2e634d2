"""Lines of a run are read; what is no message never ends anything."""

import json

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch_protocol import BatchNotice, BatchProgress, BatchTaskRow
from mezzotint.codec import encode
from mezzotint_app.processes.messages import TooLong
from mezzotint_app.viewmodel.batch.lines import InvalidLine, read_lines

ROW = BatchTaskRow(
    status="failed", input="a.png", output="", seed=None, kind="image_refused", error="no", seconds=None, attempts=1
)
PROGRESS = BatchProgress(
    done=1, failed=0, set_aside=0, skipped=0, already=0, left_failed=0, total=None, per_second=None, seconds_left=None,
    vram_bytes=None,
)  # fmt: skip


def line(kind, value):
    return json.dumps({"kind": kind, kind: encode(value)}).encode()


def test_each_kind_is_what_it_says():
    notice = BatchNotice(code="waiting", message="busy")
    lines = [line("settled", ROW), line("progress", PROGRESS), line("notice", notice)]
    assert read_lines(lines) == [ROW, PROGRESS, notice]


def test_kinds_of_a_newer_version_are_left_out():
    assert read_lines([b'{"kind": "temperature", "temperature": 71}']) == []


def test_what_is_no_message_is_told_with_its_beginning():
    found = read_lines([b"Traceback", b"[1]", b'{"kind": "settled"}', b'{"kind": 3}', TooLong(head=b"x" * 900)])
    assert [type(one) for one in found] == [InvalidLine] * 5
    assert found[0].begins == "Traceback" and all(len(one.begins) <= 160 for one in found)


@given(st.lists(st.binary(max_size=60)))
def test_nothing_that_is_written_raises(lines):
    read_lines(lines)
