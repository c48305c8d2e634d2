"""The table of results: rows are written as they are measured, and pending ones give way."""

import dataclasses

import pytest

from kernel_build.errors import BuildError
from kernel_build.results import PENDING, Row, pending, read_rows, record, with_targets, write_rows
from kernel_build.targets import TARGETS

MEASURED = Row(
    what="d64 self",
    figure="301 TFLOP/s",
    gpu="NVIDIA H200",
    commit="abc1234",
    date="2026-11-21",
    command="make gpu-check",
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "RESULTS.md"


def test_an_empty_table_holds_the_targets_as_pending(path):
    write_rows(with_targets([]), path)
    assert read_rows(path) == [pending(target) for target in TARGETS]
    assert {row.figure for row in read_rows(path)} == {PENDING}


def test_a_measured_row_is_added_at_the_end(path):
    record(MEASURED, path)
    record(dataclasses.replace(MEASURED, figure="305 TFLOP/s"), path)
    assert [row.figure for row in read_rows(path)] == [PENDING] * len(TARGETS) + ["301 TFLOP/s", "305 TFLOP/s"]


def test_a_target_that_is_measured_is_pending_no_more(path):
    first = dataclasses.replace(MEASURED, what=TARGETS[1].what, target=TARGETS[1].target)
    record(first, path)
    assert read_rows(path) == [pending(TARGETS[0]), first, *map(pending, TARGETS[2:])]
    again = dataclasses.replace(first, date="2026-12-01")
    record(again, path)
    assert read_rows(path) == [pending(TARGETS[0]), first, *map(pending, TARGETS[2:]), again]


def test_cells_cannot_break_the_table(path):
    record(dataclasses.replace(MEASURED, gpu="a | b\n| c"), path)
    assert read_rows(path)[-1].gpu == "a / b / c"


def test_a_file_that_was_changed_by_hand_is_not_written_over(path):
    record(MEASURED, path)
    path.write_text(path.read_text("utf-8") + "| one cell |\n", "utf-8")
    before = path.read_bytes()
    with pytest.raises(BuildError, match="is not as it was written"):
        record(MEASURED, path)
    assert path.read_bytes() == before


def test_the_project_s_table_knows_every_target():
    told = {row.what for row in read_rows()}
    assert {target.what for target in TARGETS} <= told


def test_every_target_has_the_model_s_figure_beside_it():
    """If not: python -m kernel_build record"""
    assert all(pending(target).model for target in TARGETS)
    assert all(row in [pending(target) for target in TARGETS] for row in read_rows() if row.figure == PENDING)


def test_pending_rows_are_told_anew(path):
    write_rows([dataclasses.replace(pending(TARGETS[0]), target="what it was before")], path)
    assert with_targets(read_rows(path))[-1] == pending(TARGETS[0])


def test_tables_from_before_there_were_models_are_read(path):
    path.write_text("| head |\n| --- |\n| a | b | pending | | | | |\n", "utf-8")
    assert read_rows(path) == [Row(what="a", target="b")]


def test_no_row_of_the_project_s_table_is_half_measured():
    for row in read_rows():
        measured = [row.gpu, row.commit, row.date, row.command]
        assert all(measured) if row.figure != PENDING else not any(measured), row
