"""What is told is read as it was; what is for people is none of it."""

import io

import pytest

from kernel_build.card.protocol import MARK, Row, Teller, told


def test_what_is_told_is_read():
    out = io.StringIO()
    teller = Teller({"old"}, out)
    row = Row(item="new", outcome="failed", problem="of course", measured={"milliseconds": 0.5})
    assert not teller.wants("old") and teller.has("old")
    assert teller.wants("new")
    teller.row(row)
    assert [told(line) for line in out.getvalue().splitlines() if line] == ["new", row]


def test_a_line_that_another_left_open_hides_nothing():
    out = io.StringIO()
    out.write("half a line")
    Teller((), out).wants("one")
    assert [told(line) for line in out.getvalue().splitlines()] == [None, "one"]


@pytest.mark.parametrize("line", ["", "begin", f"{MARK}not json", f"{MARK}[1]", f'{MARK}{{"row": {{"colour": 1}}}}'])
def test_other_lines_are_for_people(line):
    assert told(line) is None
