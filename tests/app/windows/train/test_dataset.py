"""Captions are edited in place."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QHelpEvent, QImage
from PySide6.QtWidgets import QStyleOptionViewItem

from mezzotint.library_protocol import Thumbnail
from mezzotint_app.widgets.images.crop_delegate import CaptionEditor

EDIT = Qt.ItemDataRole.EditRole


def editor(qtbot, page):
    qtbot.waitUntil(lambda: page.dataset.grid.findChild(CaptionEditor) is not None)
    return page.dataset.grid.findChild(CaptionEditor)


def test_enter_saves_a_caption_and_shift_enter_begins_another(qtbot, works, page):
    qtbot.mouseClick(page.dataset.edit, Qt.MouseButton.LeftButton)
    box = editor(qtbot, page)
    qtbot.keyClicks(box, "a castle")
    qtbot.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(box, "a tower")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert works.librarian.last("training_caption").params.captions == ("a castle", "a tower")
    qtbot.waitUntil(lambda: page.dataset.grid.findChild(CaptionEditor) is None)


def test_escape_leaves_it_as_it_was(qtbot, works, page):
    page.dataset.grid.setCurrentIndex(works.model.dataset.index(1))
    qtbot.mouseClick(page.dataset.edit, Qt.MouseButton.LeftButton)
    box = editor(qtbot, page)
    assert box.toPlainText() == "a castle"
    qtbot.keyClicks(box, "a house")
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert works.librarian.open("training_caption") == []


def test_an_answer_of_the_library_does_not_overwrite_what_is_typed(qtbot, works, page):
    qtbot.mouseClick(page.dataset.edit, Qt.MouseButton.LeftButton)
    box = editor(qtbot, page)
    qtbot.keyClicks(box, "a cas")
    works.checks.again()
    works.check()
    assert box.toPlainText() == "a cas"


def test_crops_and_captions_are_painted(qtbot, works, page, tmp_path):
    path = tmp_path / "a.png"
    picture = QImage(200, 100, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.blue)
    assert picture.save(str(path))
    before = page.dataset.grid.grab().toImage()
    while works.librarian.open("thumbnail"):
        works.librarian.answer(Thumbnail(path=str(path), width=200, height=100), "thumbnail")
    page.dataset.grid.setCurrentIndex(works.model.dataset.index(0))
    assert page.dataset.grid.grab().toImage() != before


def test_a_tooltip_tells_the_problems(works, page):
    grid, index = page.dataset.grid, works.model.dataset.index(0)
    delegate, option = grid.itemDelegate(), QStyleOptionViewItem()
    event = QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5))
    assert delegate.helpEvent(event, grid, option, index)
    assert not delegate.helpEvent(event, grid, option, works.model.dataset.index(-1))
    assert delegate.cell(grid) != QSize()
