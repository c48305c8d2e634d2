"""The dialog shows strangers' text as it is and bounded; its buttons apply what they say."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QLabel, QPlainTextEdit, QTableWidget  # noqa: E402

from mezzotint.protocol import GenerateRequest, ImageMetadata, ModelInfo  # noqa: E402
from mezzotint_app.viewmodel.dropped.differences import DifferencesModel  # noqa: E402
from mezzotint_app.viewmodel.pixels import PixelLoader  # noqa: E402
from mezzotint_app.windows.differences_dialog import DifferencesDialog  # noqa: E402

FIELDS = (
    "prompt",
    "negative_prompt",
    "width",
    "height",
    "seed",
    "steps",
    "sampler",
    "schedule",
    "guidance_scale",
    "strength",
    "model",
    "model_hash",
    "request",
)
MODELS = tuple(
    ModelInfo(
        id=name, path=name, layout="file", family="sdxl", variant="", bytes=1, source="", defaults=None, problem=None
    )
    for name in ("sdxl-base-1.0", "r&d")
)


def says(program="a1111", other=None, **values):
    return ImageMetadata(program=program, other=other or {}, **(dict.fromkeys(FIELDS) | values))


@pytest.fixture
def model(service):
    return DifferencesModel(service, lambda: GenerateRequest(prompt="a house", seed=4), lambda: MODELS)


@pytest.fixture
def dialog(qtbot, model):
    made = DifferencesDialog(model)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def applied(model):
    found = []
    model.apply_wanted.connect(lambda metadata, what: found.append((metadata, what)))
    return found


def show(model, service, metadata, path="/a/b.png"):
    model.set_current(path)
    service.answer(metadata, method="metadata")


def button(dialog, text):
    (found,) = [one for one in dialog.findChildren(QAbstractButton) if one.text() == text]
    return found


def cells(dialog):
    table = dialog.findChild(QTableWidget)
    return [[table.item(row, column).text() for column in range(3)] for row in range(table.rowCount())]


@pytest.mark.parametrize(("text", "what"), [("Apply all", "all"), ("Prompt only", "prompt"), ("Seed only", "seed")])
def test_the_buttons_apply_what_they_say(dialog, model, service, applied, text, what):
    metadata = says(prompt="a barn", seed=9)
    show(model, service, metadata)
    assert ["Prompt", "a house", "a barn"] in cells(dialog)
    button(dialog, text).click()
    assert applied == [(metadata, what)]
    assert not dialog.isVisible()


def test_cancel_applies_nothing(dialog, model, service, applied):
    show(model, service, says(prompt="a barn"))
    button(dialog, "Cancel").click()
    assert applied == []


def test_the_image_can_be_begun_from(dialog, model, service):
    used = []
    model.use_as_input.connect(used.append)
    show(model, service, says("unknown", width=5, height=5))
    assert not button(dialog, "Apply all").isEnabled()
    button(dialog, "Use as init image").click()
    assert used == ["/a/b.png"]


def test_what_is_not_said_cannot_be_applied(dialog, model, service):
    show(model, service, says(prompt="a barn"))
    assert button(dialog, "Prompt only").isEnabled()
    assert not button(dialog, "Seed only").isEnabled()


def test_a_prompt_of_a_megabyte_is_shown_in_part_and_applied_whole(dialog, model, service, applied):
    prompt = "<b>word</b> " * 90_000
    show(model, service, says(prompt=prompt))
    assert all(len(text) < 300 for row in cells(dialog) for text in row)
    (there,) = [one for one in dialog.findChildren(QPlainTextEdit) if "<b>word" in one.toPlainText()]
    assert len(there.toPlainText()) < 25_000
    assert "not shown" in there.toPlainText()
    button(dialog, "Apply all").click()
    assert applied[0][0].prompt == prompt


def test_hostile_text_is_plain_and_bounded(dialog, model, service):
    hostile = "<img src=x onerror=alert(1)>\u202e\x1b[31m" + "y" * 10_000
    show(
        model,
        service,
        says(prompt=hostile, sampler=hostile, model=hostile, other={"note": hostile}),
        path="/" + hostile,
    )
    dialog.grab()
    for label in dialog.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText or "<" not in label.text()
        assert len(label.text()) < 1000
        assert "\u202e" not in label.text()
    assert all("\u202e" not in text and "\x1b" not in text for row in cells(dialog) for text in row)
    table = dialog.findChild(QTableWidget)
    assert table.item(0, 2).toolTip().startswith("<qt>&lt;img")
    assert dialog.minimumSizeHint().width() < 1024


def test_each_row_can_be_read_in_full(dialog, model, service):
    show(model, service, says(prompt="a barn", negative_prompt="blurry\nugly"))
    dialog.findChild(QTableWidget).setCurrentCell(1, 0)
    assert "blurry\nugly" in [one.toPlainText() for one in dialog.findChildren(QPlainTextEdit)]


def test_the_nearest_model_is_offered_and_not_taken_by_itself(dialog, model, service, applied):
    show(model, service, says(prompt="x", model="sd_xl_base_1.0.safetensors"))
    (offer,) = [one for one in dialog.findChildren(QCheckBox) if one.isVisible()]
    assert "sdxl-base-1.0" in offer.text()
    assert not offer.isChecked()
    offer.setChecked(True)
    button(dialog, "Apply all").click()
    assert applied[0][0].model == "sdxl-base-1.0"


def test_an_ampersand_in_a_name_is_no_shortcut(dialog, model, service):
    show(model, service, says(prompt="x", model="r&d2"))
    (offer,) = [one for one in dialog.findChildren(QCheckBox) if one.isVisible()]
    assert offer.text().endswith("r&&d")
    assert offer.accessibleName().endswith("r&d")


def test_reading_failing_and_the_same_settings_are_said(dialog, model, service):
    def said():
        return " ".join(label.text() for label in dialog.findChildren(QLabel) if label.isVisible())

    model.set_current("/a.png")
    assert "Reading" in said()
    service.fail("image_refused", "/a.png is damaged")
    assert "/a.png is damaged" in said()
    show(model, service, says(prompt="a house", seed=4))
    assert "the same" in said()


def test_a_small_copy_is_shown(qtbot, model, service, inline):
    dialog = DifferencesDialog(model, PixelLoader(service, inline))
    qtbot.addWidget(dialog)
    dialog.show()
    model.set_current("/a.png")
    assert service.last("pixels").params.max_side is not None
    dialog._thumbnail_is_there(QImage(10, 20, QImage.Format.Format_RGB32))
    dialog.grab()
    model.set_current("/b.png")
    dialog.reject()
    told = []
    dialog._loader.load("/c.png", 5, told.append, told.append)
    service.fail(call=service.last("pixels").call)
    assert len(told) == 1, "closing drops its own image alone"


def test_the_next_image_is_not_applied_with_the_last_ones_tick(dialog, model, service):
    show(model, service, says(prompt="x", model="sd_xl_base_1.0.safetensors"))
    (offer,) = [one for one in dialog.findChildren(QCheckBox) if one.isVisible()]
    offer.setChecked(True)
    show(model, service, says(prompt="y", model="sdxl_base_10.safetensors"))
    assert not offer.isChecked()
