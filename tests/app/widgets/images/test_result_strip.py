"""The last images in a row."""

import pytest
from create_page import kit_of
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from mezzotint.library_protocol import Thumbnail
from mezzotint_app.viewmodel.create.state import Result
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.images.result_strip import ResultStrip


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def strip(kit, qtbot):
    strip = ResultStrip(Thumbnails(kit.librarian, kit.pool))
    qtbot.addWidget(strip)
    return strip


def results(*names):
    return [Result(path=f"/{name}.png", seed=7, width=64, height=64) for name in names]


def colour_of(strip, row):
    icon = strip.model().item(row).icon()
    return icon.pixmap(72, 72).toImage().pixelColor(20, 20).name()


def test_thumbnails_come_when_they_are_made(kit, strip):
    strip.show_results(results("a", "b"))
    asked = {one.params.path: one.call for one in kit.librarian.open("thumbnail")}
    assert set(asked) == {"/a.png", "/b.png"}
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    image.fill(0x3366CC)
    image.save(str(kit.folder / "t.png"))
    kit.librarian.answer(Thumbnail(path=str(kit.folder / "t.png"), width=64, height=64), call=asked["/b.png"])
    assert colour_of(strip, 1) == "#3366cc"
    assert colour_of(strip, 0) != "#3366cc"
    strip.show_results(results("c", "a", "b"))
    assert colour_of(strip, 2) == "#3366cc"


def test_new_results_choose_nothing_by_themselves(strip):
    told = []
    strip.chosen.connect(told.append)
    strip.show_results(results("a"))
    strip.show_results(results("b", "a"))
    assert told == []
    strip.setCurrentIndex(strip.model().index(1, 0))
    assert told == ["/a.png"]


def test_names_are_said_and_shown_as_plain_text(strip):
    strip.show_results(results("<b>"))
    assert strip.model().item(0).data(Qt.ItemDataRole.AccessibleTextRole) == "<b>.png, 7"
    assert "&lt;b&gt;" in strip.model().item(0).data(Qt.ItemDataRole.ToolTipRole)


def test_without_results_it_is_not_there(strip):
    strip.show_results(results("a"))
    strip.show_results([])
    assert strip.isHidden()
