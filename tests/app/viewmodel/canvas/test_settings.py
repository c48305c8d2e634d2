"""What is set on the canvas is there in the next session."""

from dataclasses import replace

import pytest
from create_page import kit_of
from fake_service import InlineBackground
from PySide6.QtGui import QColor

from mezzotint_app.stored import Stored, read
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.canvas.settings import CanvasSettings, keep_settings
from mezzotint_app.viewmodel.create.controls import ControlChoice


@pytest.fixture
def kit(tmp_path, qapp):
    for made in kit_of(tmp_path):
        made.write()
        yield made


@pytest.fixture
def session(kit, tmp_path):
    def begun():
        model = CanvasModel(kit.create, kit.queue, kit.runner, kit.librarian, kit.pool)
        path = tmp_path / "state" / "canvas.json"
        stored = Stored(path, read(CanvasSettings, path)[0], InlineBackground())
        keep_settings(model, stored)
        return model, stored

    return begun


def test_brush_colour_and_generation_settings_come_back(session):
    model, stored = session()
    control = ControlChoice(image="", model="edges", weight=0.5)
    model.generation.choose(replace(model.generation.choice(), strength=0.3, control=control))
    model.tools.set_brush(size=20.0, hardness=0.25)
    model.tools.set_colour(QColor("#123456"))
    stored.save()
    again, _ = session()
    assert again.generation.choice() == model.generation.choice()
    assert again.tools.brush() == model.tools.brush() and again.tools.colour() == QColor("#123456")


def test_a_colour_that_is_none_is_left_alone(session):
    model, stored = session()
    before = model.tools.colour()
    stored.change(colour="no colour")
    keep_settings(model, stored)
    assert model.tools.colour() == before
