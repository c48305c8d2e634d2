"""Which smaller copy."""

import pytest
from fake_engine import model_info
from PySide6.QtWidgets import QDialogButtonBox, QRadioButton

from mezzotint_app.windows.models.quantize_dialog import QuantizeDialog


@pytest.fixture
def dialog(qtbot):
    made = QuantizeDialog(model_info(id="a <b>"))
    qtbot.addWidget(made)
    made.show()
    return made


def test_eight_bits_is_what_most_want(dialog):
    assert dialog.scheme() == "int8"


@pytest.mark.parametrize("scheme", ["int8", "int8-weight", "int4", "int4-lowrank", "int4-rot"])
def test_each_scheme_can_be_chosen_and_is_explained(dialog, scheme):
    (button,) = (one for one in dialog.findChildren(QRadioButton) if one.property("scheme") == scheme)
    button.click()
    assert dialog.scheme() == scheme
    assert button.accessibleDescription()


def test_it_can_be_left(qtbot, dialog):
    with qtbot.waitSignal(dialog.rejected):
        dialog.findChild(QDialogButtonBox).rejected.emit()
