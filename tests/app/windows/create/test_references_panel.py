"""The panel of reference images: dropped, pasted, chosen, moved and removed, by mouse and by keyboard."""

from dataclasses import replace

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QModelIndex, QPoint, Qt  # noqa: E402
from PySide6.QtGui import QGuiApplication, QImage  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402

from mezzotint_app.viewmodel.create.images.references import ReferencesModel  # noqa: E402
from mezzotint_app.viewmodel.dropped.data import DropData  # noqa: E402
from mezzotint_app.viewmodel.pixels import LoadedImage  # noqa: E402
from mezzotint_app.windows.create.references_panel import ReferencesPanel  # noqa: E402


@pytest.fixture
def model(service, inline):
    return ReferencesModel(service, inline)


@pytest.fixture
def panel(qtbot, model):
    made = ReferencesPanel(model)
    qtbot.addWidget(made)
    made.resize(320, 400)
    made.show()
    return made


def order(model):
    return "".join(one.path for one in model.items())


def rows(panel):
    return [panel.list.item(row).text() for row in range(panel.list.count())]


def test_an_empty_panel_says_what_may_be_dropped(panel):
    assert not panel.list.isVisible()
    assert panel.add.isVisible()
    assert not panel.remove.isVisible()


def test_what_is_dropped_is_listed_with_number_name_and_size(panel, model):
    panel.take(DropData(paths=("/x/a.png", "/x/b.png")))
    assert rows(panel) == ["1. a.png", "2. b.png"]
    image = LoadedImage(image=QImage(80, 60, QImage.Format.Format_RGB32), width=800, height=600)
    model._put(replace(model.items()[1], image=image))
    model.changed.emit()
    assert rows(panel) == ["1. a.png", "2. b.png, 800 × 600"]


def test_what_cannot_be_read_is_marked_and_its_reason_is_the_tooltip(panel, model, service):
    model.add(["/x/a.png"])
    service.fail("image_refused", "is damaged <b>")
    assert rows(panel) == ["1. a.png: cannot be used"]
    assert "is damaged &lt;b&gt;" in panel.list.item(0).toolTip()


def test_buttons_and_keys_move_and_remove_the_selected_image(panel, model):
    model.add(["a", "b", "c"])
    assert (panel.up.isEnabled(), panel.down.isEnabled()) == (False, True)
    panel.down.click()
    assert (order(model), panel.list.currentRow()) == ("bac", 1)
    QTest.keyClick(panel.list, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert (order(model), panel.list.currentRow()) == ("bca", 2)
    assert not panel.down.isEnabled()
    QTest.keyClick(panel.list, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    panel.up.click()
    assert order(model) == "bac"
    QTest.keyClick(panel.list, Qt.Key.Key_Delete)
    assert order(model) == "bc"
    panel.remove.click()
    panel.remove.click()
    assert order(model) == "" and not panel.list.isVisible()


@pytest.mark.parametrize(("row", "to", "expected"), [(0, 3, "bca"), (2, 0, "cab"), (0, 2, "bac")])
def test_a_row_that_was_dragged_moves_its_image(panel, model, qtbot, row, to, expected):
    model.add(["a", "b", "c"])
    assert panel.list.model().moveRow(QModelIndex(), row, QModelIndex(), to)
    qtbot.waitUntil(lambda: order(model) == expected)
    assert [text[3:] for text in rows(panel)] == list(expected)


def test_the_clipboard_is_pasted(panel, model):
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(0)
    QGuiApplication.clipboard().setImage(image)
    panel.clipboard.click()
    assert len(model.items()) == 1
    told = []
    panel.message.connect(told.append)
    QGuiApplication.clipboard().clear()
    panel.clipboard.click()
    assert told == ["There is no image on the clipboard."]
    panel.take(DropData(elsewhere=1))
    assert "web address" in told[-1]


def test_files_are_chosen_in_a_dialog(panel, model):
    dialog = panel.choose()
    dialog.filesSelected.emit(["/x/a.png"])
    assert len(model.items()) == 1
    dialog.close()
    assert panel.list.itemAt(QPoint(5, 5)) is not None
