"""Every control changes its field of the form, and shows it."""

import pytest
from PySide6.QtCore import Qt


@pytest.mark.parametrize(
    ("name", "act", "field", "value"),
    [
        ("trigger", lambda line: line.textEdited.emit("zobble"), "trigger", "zobble"),
        ("word", lambda line: line.textEdited.emit("tower"), "word", "tower"),
        ("name", lambda line: line.textEdited.emit("mine"), "name", "mine"),
        ("model", lambda box: box.choose("base"), "model", "base"),
        ("steps", lambda spin: spin.setValue(250), "steps", 250),
        ("rank", lambda spin: spin.setValue(32), "rank", 32),
        ("rate", lambda spin: spin.setValue(0.01), "rate", 0.01),
        ("batch", lambda spin: spin.setValue(2), "batch", 2),
        ("resolution", lambda spin: spin.setValue(512), "resolution", 512),
        ("regularization", lambda spin: spin.setValue(0), "regularization", 0),
        ("epochs", lambda spin: spin.setValue(5), "epochs", 5),
        ("optimizer", lambda box: box.choose("lion"), "optimizer", "lion"),
        ("validation", lambda slider: slider.edited.emit(0.1), "validation", 0.1),
        ("flip", lambda box: box.click(), "flip", True),
        ("prompts", lambda edit: edit.setPlainText("a\nb"), "prompts", "a\nb"),
        ("folder", lambda path: path.edited.emit("/other"), "folder", "/other"),
    ],
)
def test_a_control_changes_its_field(works, page, name, act, field, value):
    act(getattr(page.form, name))
    assert getattr(works.model.form(), field) == value
    page.show_model()
    assert getattr(works.model.form(), field) == value


def test_problems_are_shown_at_their_fields(works, page):
    works.model.change(name="a/b")
    page.show_model()
    assert page.form.fields()["name"].problem() and not page.form.fields()["folder"].problem()


def test_a_number_is_stepped_from_the_automatic_one(qtbot, works, page):
    qtbot.keyClick(page.form.steps, Qt.Key.Key_Up)
    assert works.model.form().steps == 100
    qtbot.keyClick(page.form.steps, Qt.Key.Key_Up)
    assert works.model.form().steps == 150
