"""What failed is asked in pages, and only what is seen."""

import pytest
from batch_window import failed_row
from PySide6.QtCore import Qt

from mezzotint.batch_protocol import BatchTaskPage
from mezzotint_app.viewmodel.batch.failures import BatchFailures

pytestmark = pytest.mark.requires_package("PySide6")


def page(first, count, total):
    return BatchTaskPage(total=total, rows=tuple(failed_row(number) for number in range(first, first + count)))


def test_pages_come_as_they_are_looked_at(qtbot, service):
    model = BatchFailures(service, "/out")
    model.refresh()
    qtbot.waitUntil(lambda: bool(service.open("batch_tasks")))
    asked = service.last("batch_tasks").params
    assert (asked.folder, asked.which, asked.offset) == ("/out", "failed", 0)
    service.answer(page(0, 200, 90_000))
    assert model.rowCount() == 90_000
    assert "in/3.jpg<br>3.png<br>it is cut off" in model.index(3).data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(3).data() == "3.jpg: it is cut off"
    assert model.index(80_000).data(Qt.ItemDataRole.DisplayRole) == "…"
    qtbot.waitUntil(lambda: bool(service.open("batch_tasks")))
    assert service.last("batch_tasks").params.offset == 80_000
    service.answer(page(80_000, 200, 90_000))
    assert model.index(80_001).data() == "80001.jpg: it is cut off"


def test_rows_of_words_and_without_an_error_are_told_too(service):
    model = BatchFailures(service, "/out")
    assert model.words(failed_row(1, input=None)) == "1.png: it is cut off"
    assert model.words(failed_row(1, error=None)) == "1.jpg: image_refused"


def test_a_page_that_cannot_be_had_is_told(qtbot, service):
    model = BatchFailures(service, "/out")
    told = []
    model.failed.connect(told.append)
    model.refresh()
    qtbot.waitUntil(lambda: bool(service.open("batch_tasks")))
    service.fail("storage", "the folder is gone")
    assert told == ["the folder is gone"] and model.index(0).data(Qt.ItemDataRole.UserRole) is None
