"""The dialog for a grid shows how many images there will be, and starts only what can be made."""

import pytest
from PySide6.QtTest import QTest

from mezzotint.protocol import GenerateRequest
from mezzotint_app.viewmodel.batch.grid import GridModel
from mezzotint_app.windows.create.grid_dialog import GridDialog


@pytest.fixture
def dialog(qtbot):
    made = GridDialog(GridModel(lambda: GenerateRequest(prompt="a house")))
    qtbot.addWidget(made)
    made.show()
    return made


def described(dialog):
    return dialog.generate_button().accessibleDescription()


def test_from_axes_to_the_job(dialog, qtbot):
    assert described(dialog) == "3 images"
    box, line = dialog.rows[1]
    assert not line.isEnabled()
    box.choose("sampler")
    assert "Sampler: write values" in described(dialog) and not dialog.generate_button().isEnabled()
    dialog.accept()
    assert dialog.isVisible()
    QTest.keyClicks(line, "euler, ddim")
    assert described(dialog) == "6 images: 3 × 2"
    with qtbot.waitSignal(dialog.wanted) as wanted:
        dialog.accept()
    job, title = wanted.args
    assert list(job["matrix"].items()) == [("steps", [10, 20, 40]), ("sampler", ["euler", "ddim"])]  # columns first
    assert title == "a house: Steps, Sampler"
