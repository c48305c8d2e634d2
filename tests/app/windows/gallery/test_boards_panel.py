"""The list of boards: by mouse, keyboard and drag and drop."""

import pytest
from gallery_made import gallery_of, item
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QMessageBox

from mezzotint_app.viewmodel.gallery.gallery import GalleryState
from mezzotint_app.windows.gallery.page import GalleryPage

NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def made(tmp_path, qtbot):
    made = gallery_of([item(number) for number in range(4)], tmp_path, state=GalleryState(boards=True))
    made.page = GalleryPage(made.gallery)
    made.page.resize(1100, 700)
    qtbot.addWidget(made.page)
    made.page.show()
    made.gallery.begin()
    made.settle()
    made.page.grid.setFocus()
    return made


def texts(made):
    made.settle()
    boards = made.page.boards.list
    return [boards.item(row).text() for row in range(boards.count())]


def say(made, text):
    dialog = made.page.findChildren(QInputDialog)[-1]
    dialog.findChild(QLineEdit).setText(text)
    dialog.accept()
    made.page.activateWindow()
    made.settle()


def test_a_board_is_made_filled_shown_renamed_and_removed(made, qtbot):
    panel, grid = made.page.boards, made.page.grid
    panel.add.click()
    say(made, "  Trip ")
    assert texts(made) == ["All images", "Trip (0)"]
    panel.list.setCurrentRow(1)
    made.settle()
    assert made.page.empty.title() == "Nothing on this board"
    panel.list.setCurrentRow(0)
    made.settle()
    grid.setFocus()
    grid.selectAll()
    qtbot.keyClick(grid, Qt.Key.Key_B)
    made.settle()
    made.page.findChild(QMenu).actions()[0].trigger()
    assert texts(made) == ["All images", "Trip (4)"]
    panel.list.setCurrentRow(1)
    panel.list.setFocus()
    qtbot.keyClick(panel.list, Qt.Key.Key_F2)
    say(made, "Journey")
    assert texts(made) == ["All images", "Journey (4)"] and made.gallery.model.query().board == "Journey"
    qtbot.keyClick(panel.list, Qt.Key.Key_Delete)
    made.page.findChild(QMessageBox).agreed.emit(False)
    assert texts(made) == ["All images"] and made.gallery.model.query().board is None


def test_images_are_dropped_on_a_board_but_on_no_smart_one(made):
    made.librarian.searches |= {"Trip": None, "Smart": "tag:sea"}
    made.gallery.boards.refresh()
    texts(made)
    boards, data = made.page.boards.list, QMimeData()
    data.setUrls([QUrl.fromLocalFile("/images/1.png"), QUrl("https://example.com/2.png")])
    for row in (0, 1, 2):
        at = QPointF(boards.visualItemRect(boards.item(row)).center())
        event = QDropEvent(at, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, NONE)
        boards.dropEvent(event)
    assert [one.boards for one in _settled(made)] == [(), ("Trip",), (), ()]


def _settled(made):
    made.settle()
    return made.librarian.items


def test_a_search_is_saved_and_hiding_the_list_shows_all_again(made, qtbot):
    panel = made.page.boards
    assert not panel.save.isEnabled()
    made.gallery.model.narrow(search="image")
    panel.save.click()
    say(made, "Mine")
    assert texts(made) == ["All images", "Mine"] and made.librarian.searches == {"Mine": "image"}
    panel.list.setCurrentRow(1)
    panel.list.setFocus()
    qtbot.keyClick(panel.list, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert panel.isHidden() and made.gallery.model.query().board is None
    assert made.gallery.state.value().boards is False


def test_t_asks_for_the_tags_of_the_selected(made, qtbot):
    made.page.grid.selectAll()
    qtbot.keyClick(made.page.grid, Qt.Key.Key_T)
    made.settle()
    say(made, "sea, dusk")
    assert {one.tags for one in made.librarian.items} == {("sea", "dusk")}
    made.gallery.details.ask_now()
    assert any("sea, dusk" in one.text() for one in made.page.panel.findChildren(type(made.page.panel._about)))


def test_s_sorts_by_similarity_for_now(made, qtbot):
    order = made.page.bar.order
    qtbot.keyClick(made.page.grid, Qt.Key.Key_S)
    made.settle()
    assert (order.currentData(), made.gallery.state.value().order) == ("similar", "newest")
    order.setCurrentIndex(0)
    assert order.findData("similar") < 0
