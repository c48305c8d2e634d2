"""Which smaller copy."""

import pytest
from fake_engine import model_info
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QRadioButton, QSpinBox

from mezzotint.protocol import SCHEMES
from mezzotint_app.windows.models.quantize_dialog import QuantizeDialog

GB = 2**30


@pytest.fixture
def dialog(qtbot):
    made = QuantizeDialog(model_info(id="a <b>"))
    qtbot.addWidget(made)
    made.show()
    return made


def test_eight_bits_is_what_most_want(dialog):
    assert dialog.scheme() == "int8"


@pytest.mark.parametrize("scheme", [*SCHEMES, "auto"])
def test_each_scheme_can_be_chosen_and_is_explained(dialog, scheme):
    (button,) = (one for one in dialog.findChildren(QRadioButton) if one.property("scheme") == scheme)
    button.click()
    assert dialog.scheme() == scheme
    assert button.accessibleDescription() in [label.text() for label in dialog.findChildren(QLabel)]


def test_it_fits_a_small_screen(dialog):
    assert dialog.sizeHint().height() < 600


def test_a_card_is_named_for_auto_alone(dialog):
    field = dialog.findChild(QSpinBox)
    assert not field.isEnabled() and dialog.target_vram() is None
    (button,) = (one for one in dialog.findChildren(QRadioButton) if one.property("scheme") == "auto")
    button.click()
    assert field.isEnabled() and dialog.target_vram() == 8 * GB
    field.setValue(12)
    assert dialog.target_vram() == 12 * GB


@pytest.mark.parametrize(("vram", "shown"), [(None, 8), (24 * GB - 5, 23), (GB // 2, 1)])
def test_the_card_of_this_machine_comes_first(qtbot, vram, shown):
    made = QuantizeDialog(model_info(), vram)
    qtbot.addWidget(made)
    assert made.findChild(QSpinBox).value() == shown


def test_it_can_be_left(qtbot, dialog):
    with qtbot.waitSignal(dialog.rejected):
        dialog.findChild(QDialogButtonBox).rejected.emit()
