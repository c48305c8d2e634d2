"""Settings with several values: always room for one more, up to some."""

from typing import Any

import pytest
from PySide6.QtCore import Qt

from mezzotint_app.viewmodel.batch.form import MatrixRow
from mezzotint_app.widgets.inputs.batch_matrix import MAX_ROWS, BatchMatrix

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def matrix(qtbot):
    made: Any = BatchMatrix()
    made.told = []
    made.edited.connect(made.told.append)
    qtbot.addWidget(made)
    made.show()
    return made


def seen(matrix):
    return [(box.value(), line.text()) for box, line in matrix.rows() if line.isVisible()]


def test_a_line_is_filled_in_and_another_comes(qtbot, matrix):
    assert seen(matrix) == [("", "")]
    box, line = matrix.rows()[0]
    box.choose("steps")
    qtbot.keyClicks(line, "8, 12")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert matrix.told[-1] == (MatrixRow(setting="steps", values="8, 12"),)
    matrix.show_rows(matrix.told[-1])
    assert seen(matrix) == [("steps", "8, 12"), ("", "")]
    matrix.rows()[0][0].choose("")
    assert matrix.told[-1] == ()
    matrix.show_rows(())
    assert seen(matrix) == [("", "")]


def test_a_setting_of_a_job_that_is_not_in_the_list_is_shown_and_kept(matrix):
    rows = (MatrixRow(setting="clip-skip", values="1, 2"),)
    matrix.show_rows(rows)
    assert seen(matrix)[0] == ("clip-skip", "1, 2")
    matrix.rows()[1][0].choose("seed")
    assert matrix.told[-1] == (*rows, MatrixRow(setting="seed", values=""))


@pytest.mark.parametrize("count", [MAX_ROWS, MAX_ROWS + 3])
def test_no_setting_of_a_job_is_lost(matrix, count):
    rows = tuple(MatrixRow(setting=f"s{number}", values="1") for number in range(count))
    matrix.show_rows(rows)
    assert [setting for setting, _ in seen(matrix) if setting] == [row.setting for row in rows]
