"""The weight of a LoRA follows the wheel when that is meant, and otherwise the page scrolls."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent

from mezzotint_app.viewmodel.create.state import LoraChoice
from mezzotint_app.widgets.inputs.lora_list import LoraList


def wheel(row, steps, held):
    event = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, 120 * steps), Qt.MouseButton.NoButton, held,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    row.wheelEvent(event)
    return event.isAccepted()


@pytest.mark.parametrize(
    ("held", "on", "expected"),
    [
        (Qt.KeyboardModifier.ControlModifier, True, 1.1),
        (Qt.KeyboardModifier.NoModifier, True, 1.0),
        (Qt.KeyboardModifier.ControlModifier, False, 1.0),
    ],
)
def test_ctrl_and_the_wheel_change_the_weight(qtbot, held, on, expected):
    loras = LoraList()
    qtbot.addWidget(loras)
    loras.show_loras([LoraChoice(path="/a.safetensors", on=on)])
    edited = []
    loras.edited.connect(edited.append)
    assert wheel(loras.rows()[0], 2, held) == bool(expected != 1.0)
    assert [one[0].weight for one in edited] == ([pytest.approx(expected)] if expected != 1.0 else [])
