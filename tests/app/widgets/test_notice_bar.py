"""A bar that tells of something."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton

from mezzotint_app.widgets.notice_bar import NoticeBar


def test_it_is_there_while_it_has_something_to_tell(qtbot):
    bar = NoticeBar("error", "danger", closable=True)
    qtbot.addWidget(bar)
    assert bar.isHidden()
    bar.show_text("<i>the disk is full</i>")
    assert not bar.isHidden()
    assert bar.text() == bar.accessibleName() == "<i>the disk is full</i>"
    with qtbot.waitSignal(bar.closed):
        qtbot.mouseClick(bar.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert bar.isHidden()


def test_a_drawing_says_it_beside_the_colour(qtbot):
    from mezzotint_app import theme

    bar = NoticeBar("warning", "warning")
    qtbot.addWidget(bar)
    assert not bar._icon.pixmap().isNull()
    before = bar._icon.pixmap().toImage()
    theme.changes().changed.emit()
    assert bar._icon.pixmap().toImage() == before


def test_it_offers_what_can_be_done(qtbot):
    bar = NoticeBar("warning", "warning")
    qtbot.addWidget(bar)
    button = bar.add_button(QPushButton("Resume"))
    bar.show_text("It ended")
    bar.resize(400, 80)
    assert button.isVisibleTo(bar)
