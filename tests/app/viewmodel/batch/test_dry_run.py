"""A look fills a table while it comes, is stopped, and is forgotten with what it was of."""

import pytest
from batch_window import dry_row, dry_totals
from fake_clock import FakeClock
from PySide6.QtCore import Qt

from mezzotint.batch_protocol import DryRows
from mezzotint.protocol import Notice
from mezzotint_app.viewmodel.batch import dry_run as batch_look
from mezzotint_app.viewmodel.batch.dry_run import DOES, INPUT, OUTPUT, SEED, SIZE, TIME, WHY, DryRun

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def dry_run(service, clock):
    return DryRun(service, clock)


def rows(first, last):
    return DryRows(rows=tuple(dry_row(number) for number in range(first, last)))


def test_rows_come_in_groups_and_totals_last(dry_run, service, clock, qtbot):
    dry_run.start({"version": 1}, "/home")
    asked = service.last("batch_look").params
    assert (asked.job, asked.base, asked.limit, dry_run.state()) == ({"version": 1}, "/home", None, "looking")
    inserted = []
    dry_run.table.rowsInserted.connect(lambda _parent, first, last: inserted.append((first, last)))
    for first in range(0, 1000, 200):
        service.event(rows(first, first + 200))
    service.event(Notice(code="x", message="something else"))
    assert dry_run.count() == 1000 and dry_run.table.rowCount() == 0
    clock.advance(1)
    assert inserted == [(0, 999)]
    service.event(rows(1000, 1010))
    service.answer(dry_totals(tasks=1010))
    assert dry_run.table.rowCount() == 1010 and dry_run.state() == "done" and dry_run.totals().tasks == 1010


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_a_few_insertions(dry_run, service, clock):
    dry_run.start({}, "/")
    inserted = []
    dry_run.table.rowsInserted.connect(lambda *_: inserted.append(True))
    for first in range(0, 100_000, 200):
        service.event(rows(first, first + 200))
        if first % 20_000 == 0:
            clock.advance(1)
    service.answer(dry_totals())
    assert dry_run.table.rowCount() == 100_000 and len(inserted) <= 6


def test_rows_beyond_what_is_held_are_counted(dry_run, service, monkeypatch):
    monkeypatch.setattr(batch_look, "MAX_ROWS", 30)
    dry_run.start({}, "/")
    service.event(rows(0, 50))
    service.answer(dry_totals())
    assert (dry_run.table.rowCount(), dry_run.count()) == (30, 50)


def test_what_a_row_says(dry_run, service):
    dry_run.start({}, "/")
    made = dry_row(3, why="a file of that name exists\nand more", does="rename", prompt="at night")
    words = dry_row(4, input=None, prompt="a house", output=None, width=None, seed=None, seconds=None)
    service.event(DryRows(rows=(made, words)))
    service.answer(dry_totals())
    table = dry_run.table
    cells = [[table.index(row, column).data() for column in range(table.columnCount())] for row in range(2)]
    assert [cells[0][one] for one in (DOES, INPUT, OUTPUT, SIZE, SEED, TIME)] == [
        "generate, rename", "in/3.jpg · at night", "3.png", "64 x 48", "3", "2 s",
    ]  # fmt: skip
    assert cells[0][WHY] == "a file of that name exists and more"
    assert cells[1][INPUT] == "a house" and cells[1][SIZE] == cells[1][SEED] == cells[1][OUTPUT] == ""
    aloud = table.index(0, OUTPUT).data(Qt.ItemDataRole.AccessibleTextRole)
    assert aloud == "Output file: 3.png"
    told = DryRows(rows=(dry_row(5, why="<b>no</b> image"), dry_row(6)))
    dry_run.start({}, "/")
    service.event(told)
    service.answer(dry_totals())
    assert table.index(1, WHY).data(Qt.ItemDataRole.ToolTipRole) is None  # no empty bubble
    assert "&lt;b&gt;no" in table.index(0, WHY).data(Qt.ItemDataRole.ToolTipRole)


def test_stopping_keeps_what_is_there(dry_run, service, clock):
    dry_run.start({}, "/")
    service.event(rows(0, 5))
    dry_run.stop()
    assert service.cancelled == [1]
    service.fail("cancelled", "stopped")
    assert (dry_run.state(), dry_run.table.rowCount(), dry_run.problem(), dry_run.totals()) == ("stopped", 5, "", None)


def test_why_it_cannot_be_is_told(dry_run, service):
    dry_run.start({}, "/")
    service.fail("usage", "matrix.steps: 'x' is invalid")
    assert (dry_run.state(), dry_run.problem()) == ("failed", "matrix.steps: 'x' is invalid")


def test_another_look_stops_the_one_before_and_is_not_mixed_with_it(dry_run, service, clock):
    dry_run.start({}, "/")
    dry_run.start({}, "/")
    assert service.cancelled == [1]
    service.event(rows(0, 7), call=1)
    service.fail("cancelled", "stopped", call=1)
    assert (dry_run.state(), dry_run.count()) == ("looking", 0)
    dry_run.discard()
    service.event(rows(0, 7), call=2)
    service.answer(dry_totals(), call=2)
    clock.advance(1)
    assert (dry_run.state(), dry_run.table.rowCount(), dry_run.totals()) == ("nothing", 0, None)
