"""Which smaller copy."""

import pytest
from fake_engine import model_info
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QLabel, QRadioButton, QSpinBox

from mezzotint.library_protocol import QuantizeRequest
from mezzotint.protocol import SCHEMES
from mezzotint_app.windows.models.quantize_dialog import QuantizeDialog

GB = 2**30


@pytest.fixture
def dialog(qtbot):
    made = QuantizeDialog(model_info(id="a <b>"))
    qtbot.addWidget(made)
    made.show()
    return made


def choose(dialog, scheme):
    (button,) = (one for one in dialog.findChildren(QRadioButton) if one.property("scheme") == scheme)
    button.click()
    return button


def test_eight_bits_is_what_most_want(dialog):
    assert dialog.request() == QuantizeRequest(model="a <b>", scheme="int8")


@pytest.mark.parametrize("scheme", [*SCHEMES, "auto"])
def test_each_scheme_can_be_chosen_and_is_explained(dialog, scheme):
    button = choose(dialog, scheme)
    assert dialog.request().scheme == scheme
    assert button.accessibleDescription() in [label.text() for label in dialog.findChildren(QLabel)]


def test_it_fits_a_small_screen(dialog):
    assert dialog.sizeHint().height() < 600


def test_a_card_is_named_for_auto_alone(dialog):
    field = dialog.findChild(QSpinBox)
    assert field.isHidden() and dialog.request().target_vram_bytes is None
    choose(dialog, "auto")
    assert not field.isHidden() and dialog.request().target_vram_bytes == 8 * GB
    field.setValue(12)
    assert dialog.request().target_vram_bytes == 12 * GB


def test_convolutions_are_a_choice_of_u_nets_in_int8_alone(qtbot, dialog):
    assert dialog.findChild(QCheckBox).isHidden()
    made = QuantizeDialog(model_info(family="sdxl"))
    qtbot.addWidget(made)
    box = made.findChild(QCheckBox)
    box.setChecked(True)
    assert not box.isHidden() and made.request().int8_convolutions
    choose(made, "int4")
    assert not box.isEnabled() and not made.request().int8_convolutions


@pytest.mark.parametrize(("vram", "shown"), [(None, 8), (24 * GB - 5, 23), (GB // 2, 1)])
def test_the_card_of_this_machine_comes_first(qtbot, vram, shown):
    made = QuantizeDialog(model_info(), vram)
    qtbot.addWidget(made)
    assert made.findChild(QSpinBox).value() == shown


def test_it_can_be_left(qtbot, dialog):
    with qtbot.waitSignal(dialog.rejected):
        dialog.findChild(QDialogButtonBox).rejected.emit()
