"""What is dropped or pasted arrives; what cannot be used is not taken."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl  # noqa: E402
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication, QImage  # noqa: E402
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout  # noqa: E402

from mezzotint_app.widgets.drop_area import DropArea, DropHint  # noqa: E402

COPY, NOTHING, LEFT = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton


@pytest.fixture
def area(qtbot):
    made = DropArea()
    qtbot.addWidget(made)
    made.resize(200, 100)
    made.show()
    return made


@pytest.fixture
def taken(area):
    found = []
    area.dropped.connect(found.append)
    return found


def files(*paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


def enter(area, data):
    event = QDragEnterEvent(QPoint(5, 5), COPY, data, LEFT, NOTHING)
    event.setAccepted(False)
    QApplication.sendEvent(area, event)
    return event.isAccepted()


def test_files_are_taken(area, taken):
    data = files("/a.png", "/b.png")
    assert enter(area, data)
    assert area.is_over()
    area.grab()
    QApplication.sendEvent(area, QDropEvent(QPointF(5, 5), COPY, data, LEFT, NOTHING, QEvent.Type.Drop))
    assert [len(one.paths) for one in taken] == [2]
    assert not area.is_over()


def test_text_is_not_taken(area):
    data = QMimeData()
    data.setText("words")
    assert not enter(area, data)
    assert not area.is_over()


def test_what_leaves_is_forgotten(area):
    enter(area, files("/a.png"))
    QApplication.sendEvent(area, QDragLeaveEvent())
    assert not area.is_over()


def test_pasting_with_the_keyboard_in_any_part_of_it(area, taken, qtbot):
    button = QPushButton()
    QVBoxLayout(area).addWidget(button)
    button.setFocus()
    image = QImage(3, 3, QImage.Format.Format_RGB32)
    image.fill(0)
    QGuiApplication.clipboard().setImage(image)
    qtbot.keyClick(button, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert [one.image.width() for one in taken] == [3]


def test_the_hint_is_read_aloud_and_seen(qtbot):
    hint = DropHint("Drop <b>an image</b> here")
    qtbot.addWidget(hint)
    hint.add(QPushButton("Choose"))
    hint.grab()
    assert hint.accessibleName() == "Drop <b>an image</b> here"
    assert hint.findChild(QPushButton).text() == "Choose"
