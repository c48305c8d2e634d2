"""Numbers have room at their left."""

from PySide6.QtWidgets import QSpinBox

from mezzotint_app.widgets.inputs.spin_room import indent


def test_there_is_room_to_the_left_of_a_number(qtbot):
    box = QSpinBox()
    qtbot.addWidget(box)
    indent(box)
    assert box.lineEdit().textMargins().left() > 0
    assert box.lineEdit().textMargins().right() == 0
