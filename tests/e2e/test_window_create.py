"""The Create page of the real window with the real engine: cascades, masks, frames, and whatever is dropped on it."""

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import MILLISECONDS
from PIL import Image
from skip_rules import skip_module_without
from told_images import TOLD, told_by

from mezzotint.images.metadata import read_metadata
from mezzotint.protocol import LoraRef

skip_module_without("PySide6")

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, Qt, QUrl  # noqa: E402
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QMessageBox, QPushButton  # noqa: E402

from mezzotint_app.main import open_window  # noqa: E402
from mezzotint_app.program import Program  # noqa: E402
from mezzotint_app.viewmodel.create.state import CreateSettings  # noqa: E402

pytestmark = pytest.mark.timeout(600)

SECONDS = 240  # that anything may take; a busy machine is no failure
STARTER = Path(__file__).parents[2] / "assets" / "starter"
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class Driven:
    """The window as a person has it before them."""

    def __init__(self, application):
        self.application = application
        self.program = Program()
        self.program.settings.change(first_run_done=True)
        self.window = open_window(self.program)
        self.window.resize(1280, 860)
        self.page, self.create = self.window.create_page, self.program.create
        self.saved, self.ended, self.told = [], [], []
        runner = self.program.runner
        runner.saved.connect(lambda _task, image: self.saved.append(image))
        runner.ended.connect(lambda _task, _result, failure: self.ended.append(failure))
        self.window.activateWindow()
        self.wait("the models", lambda: self.create.chosen.info() is not None)
        for section in self.page.sections.sections().values():
            section.set_open(True)

    def wait(self, what, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            log = list(self.program.engine.last_log())[-20:]
            told = self.window.notice.text(), self.page.footer.problem(), self.ended, log
            assert time.monotonic() < end, (what, told)
            QTest.qWait(10)

    def afresh(self, model, prompt):
        """The page as it is for a model that was never touched."""
        self.saved.clear(), self.ended.clear()
        self.program.images.clear()
        self.create.chosen.set_model(model)
        self.create.chosen.replace(CreateSettings())
        self.create.prompts.set_prompt(prompt)
        self.create.prompts.set_negative_prompt("")
        self.create.seed.fix(False)
        self.window.activateWindow()
        assert QTest.qWaitForWindowActive(self.window, MILLISECONDS)
        self.settle()

    def settle(self):
        """What was changed is shown."""
        QTest.qWait(20)

    def click(self, button):
        self.page._scroll.ensureWidgetVisible(button)
        self.settle()
        assert button.isVisible() and button.isEnabled(), button.accessibleName()
        QTest.mouseClick(button, LEFT)
        self.settle()

    def choose(self, box, value):
        """By the keyboard, from the first line of the list on."""
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Home)
        for _ in range([one.value for one in box.choices()].index(value)):
            QTest.keyClick(box, Qt.Key.Key_Down)
        self.settle()

    def type_number(self, spin, text):
        spin.setFocus()
        spin.selectAll()
        QTest.keyClicks(spin, text)
        QTest.keyClick(spin, Qt.Key.Key_Return)
        self.settle()

    def make(self, count=1):
        self.saved.clear(), self.ended.clear()
        self.click(self.page.footer.generate_button())
        self.wait("the images", lambda: len(self.saved) == count and self.program.runner.task() is None)
        assert self.ended[-1] is None
        return self.saved[-count:]

    def drop(self, *paths):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        at, action = QPoint(900, 300), Qt.DropAction.CopyAction
        entered = QDragEnterEvent(at, action, data, LEFT, NONE)
        self.application.sendEvent(self.window, entered)
        assert entered.isAccepted()
        self.application.sendEvent(self.window, QDropEvent(QPointF(at), action, data, LEFT, NONE, QEvent.Type.Drop))

    def question(self):
        self.wait("a question", lambda: self.window.dialogs.questions.open_question() is not None)
        return self.window.dialogs.questions.open_question()

    def say_yes(self):
        box = self.question()
        words = box.text() + "\n" + box.informativeText()
        QTest.mouseClick(next(one for one in box.buttons() if box.buttonRole(one) == _ACCEPT), LEFT)
        return words

    def differences(self, path):
        """The dialog about an image that was dropped."""
        self.drop(path)
        self.wait("the differences", lambda: "differences" in self.window.dialogs._open)
        dialog: Any = self.window.dialogs._open["differences"]
        self.wait("what the image says", lambda: dialog._model.path() == str(path) and dialog._model.metadata())
        return dialog

    def on_canvas(self):
        """The init image on the canvas, as its button asks for."""
        self.wait("the image", lambda: self.program.images.image() is not None)
        self.settle()
        self.program.canvas.clear()
        self.click(self.page.sections.image_input._edit)
        model, canvas = self.program.canvas, self.window.canvas_page.canvas
        self.wait("the canvas", lambda: len(model.document.layers()) == 2 and not model.is_busy())
        canvas.setFocus()
        return model, canvas

    def hand_over(self):
        """What is in the frame becomes the init image, with its mask."""
        before = self.program.images.path()
        self.program.canvas.generation.hand_over()
        self.wait("the mask", lambda: self.program.images.mask() is not None and self.program.images.path() != before)
        self.wait("the image", lambda: self.program.images.image() is not None)
        return self.program.images

    def drag(self, canvas, start, end):
        """Drag the tool from one place of the canvas to another."""
        start, end = (canvas.to_view(QPointF(*place)).toPoint() for place in (start, end))
        QTest.mousePress(canvas, LEFT, NONE, start)
        QTest.mouseMove(canvas, (start + end) / 2)
        QTest.mouseMove(canvas, end)
        QTest.mouseRelease(canvas, LEFT, NONE, end)

    def close(self):
        self.window.leave()
        self.program.finish()
        self.window.deleteLater()
        QTest.qWait(50)


_ACCEPT = QMessageBox.ButtonRole.AcceptRole


def button(words, inside):
    return next(one for one in inside.findChildren(QPushButton) if one.text() == words)


@pytest.fixture(scope="module")
def driven(qapp, tmp_path_factory):
    folder = tmp_path_factory.mktemp("window")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "STATE", "CACHE", "MODELS"):
            patch.setenv(f"MEZZOTINT_{name}", str(folder / name.lower()))
        made = Driven(qapp)
        made.program.settings.change(output_folder=str(folder / "images"))
        yield made
        made.close()


@pytest.fixture
def saved_image(tmp_path):
    """An image full of detail, so that nothing changes unseen."""

    def make(name="given.png", size=(128, 128), seed=0):
        pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(path)
        return path

    return make


def pixels(path):
    return np.asarray(Image.open(path).convert("RGB"))


# ---- words, sizes, seeds


def test_tokens_weights_history_and_settings_are_those_of_the_model(driven):
    driven.afresh("starter-dit", "a red house")  # which other tests may have changed
    driven.afresh("starter-xl", "a red house")
    prompt, lines = driven.page.prompts.prompt, driven.page.prompts.token_lines()
    driven.wait("the count", lambda: "3 of 75" in lines[0].words())
    prompt.setFocus()
    QTest.keyClick(prompt, Qt.Key.Key_End)
    QTest.keyClick(prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert prompt.text() == "a red (house:1.1)"
    driven.type_number(driven.page.sections.sampling.controls["steps"].spin(), "3")
    sizes = driven.page.basics.size_picker.parts()
    driven.choose(sizes["presets"], sizes["presets"].choices()[2].value)
    wide = driven.create.chosen.size()
    assert wide[0] > wide[1]
    driven.click(sizes["lock"])
    driven.type_number(sizes["width"], str(2 * wide[0]))
    assert driven.create.chosen.size() == (2 * wide[0], 2 * wide[1])
    driven.click(sizes["swap"])
    assert driven.create.chosen.size() == (2 * wide[1], 2 * wide[0])
    driven.choose(driven.page.basics.model_box, "starter-dit")
    driven.wait("the count", lambda: "75" not in lines[0].words() and "tokens" in lines[0].words())
    assert "ignores prompt weights" in lines[0].words()
    QTest.keyClick(prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert prompt.text() == "a red (house:1.1)" and "nothing was changed" in lines[0].words()
    assert driven.create.chosen.size() == (128, 128) and driven.create.chosen.settings() == CreateSettings()
    driven.choose(driven.page.basics.model_box, "starter-xl")
    assert driven.create.chosen.size() == (2 * wide[1], 2 * wide[0])
    assert driven.page.sections.sampling.controls["steps"].value() == 3


@pytest.mark.slow
def test_the_seed_of_the_last_image_is_used_again_and_its_words_come_back(driven):
    driven.afresh("starter-dit", "a small lamp")
    driven.create.chosen.change(steps=2)
    (first,) = driven.make()
    seed = driven.page.basics.seed
    driven.click(seed.buttons()[2])
    (again,) = driven.make()
    assert (again.seed, again.sha256) == (first.seed, first.sha256)
    driven.click(seed.buttons()[1])
    (other,) = driven.make()
    assert other.seed == driven.create.seed.value() != first.seed
    driven.create.prompts.set_prompt("a draft")
    prompt = driven.page.prompts.prompt
    prompt.setFocus()
    driven.settle()
    QTest.keyClick(prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    driven.settle()
    assert prompt.text() == "a small lamp"
    QTest.keyClick(prompt, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    driven.settle()
    assert prompt.text() == "a draft"


# ---- cascades


@pytest.mark.slow
def test_refiner_and_second_pass_are_switched_on_by_hand_and_compared(driven):
    driven.afresh("starter-xl", "a red house by the sea")
    driven.type_number(driven.page.sections.sampling.controls["steps"].spin(), "10")
    cascade = driven.page.sections.cascade
    driven.choose(cascade.choice("refiner"), "starter-xl-refiner")
    driven.type_number(cascade.number("refiner_at").spin(), "0.7")
    cascade.second_pass().setFocus()
    QTest.keyClick(cascade.second_pass(), Qt.Key.Key_Space)
    driven.settle()
    driven.type_number(cascade.number("second_scale").spin(), "1.5")
    own = driven.create.chosen.size()
    (image,) = driven.make()
    assert (image.width, image.height) == (own[0] * 3 // 2, own[1] * 3 // 2)
    recorded = read_metadata(Path(image.path)).request
    names = [stage.model.id for stage in recorded.cascade.stages]
    assert names == ["starter-xl", "starter-xl", "starter-xl-refiner"]
    assert [stage.until for stage in recorded.cascade.stages] == [None, 0.7, None]
    assert [one.scale for one in recorded.cascade.transitions] == [1.5, 1.0]

    preview, view = driven.create.preview, driven.page.result.view
    driven.wait("the finished image", lambda: preview.path() == image.path and not preview.image().isNull())
    driven.wait("the first stage", lambda: preview.before().width() == image.width)
    driven.click(driven.page.result.compare_button())
    assert view.is_comparing()
    view.setFocus()
    before = view.grab().toImage()
    QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    driven.settle()
    assert view.grab().toImage() != before
    assert preview.before() != preview.image()


# ---- masks and frames


@pytest.mark.slow
def test_outside_of_a_painted_mask_the_image_stays_as_it_is(driven, saved_image):
    given = saved_image()
    driven.afresh("starter-xl", "a blue boat")
    driven.create.chosen.change(steps=6)
    driven.program.images.set_image(given)
    model, canvas = driven.on_canvas()
    model.tools.set_brush(size=24)
    driven.drag(canvas, (48, 64), (80, 64))
    model.generation.choose(replace(model.generation.choice(), feather=4))
    images = driven.hand_over()
    given = images.path()
    (image,) = driven.make()
    mask = pixels(driven.program.images.mask().path)[..., 0] > 0
    assert 0.02 < mask.mean() < 0.6
    before, after = pixels(given), pixels(image.path)
    assert np.array_equal(before[~mask], after[~mask])
    assert np.abs(before[mask].astype(int) - after[mask]).mean() > 5


@pytest.mark.slow
def test_a_frame_that_is_dragged_outwards_grows_the_image(driven, saved_image):
    given = saved_image(size=(128, 112))
    driven.afresh("starter-xl", "a green field")
    driven.create.chosen.change(steps=4)
    driven.program.images.set_image(given)
    model, canvas = driven.on_canvas()
    model.tools.set_tool("frame")
    driven.drag(canvas, (128, 56), (160, 56))
    assert model.document.frame() == QRect(0, 0, 160, 112)
    driven.hand_over()
    (image,) = driven.make()
    assert (image.width, image.height) == (160, 112)
    before, after = pixels(given), pixels(image.path)
    assert np.array_equal(before[:, :96], after[:, :96])  # old and new meet near the edge
    assert after[:, 128:].std() > 1


@pytest.mark.slow
def test_only_the_masked_part_is_worked_on_at_full_size(driven, saved_image):
    given = saved_image(size=(400, 300))
    driven.afresh("starter-dit", "a white house")
    driven.create.chosen.change(steps=4)
    driven.program.images.set_image(given)
    model, canvas = driven.on_canvas()
    model.document.set_frame(QRect(0, 0, 400, 304))
    model.generation.choose(replace(model.generation.choice(), area="masked", padding=16, fill="original"))
    model.tools.set_brush(size=32)
    driven.drag(canvas, (100, 80), (104, 80))
    given = driven.hand_over().path()
    (image,) = driven.make()
    assert (image.width, image.height) == (400, 304)
    mask = pixels(driven.program.images.mask().path)[..., 0] > 0
    before, after = pixels(given), pixels(image.path)
    assert np.array_equal(before[~mask], after[~mask])
    assert not np.array_equal(before[mask], after[mask])
    assert read_metadata(Path(image.path)).request.inpaint.area == "masked"


def test_an_image_on_the_clipboard_is_pasted_wherever_the_keyboard_is(driven):
    image = QImage(96, 64, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkCyan)
    prompt = driven.page.prompts.prompt
    for place in (prompt, driven.page.sections.sampling.controls["steps"].slider()):
        driven.afresh("starter-xl", "a harbour")
        QGuiApplication.clipboard().setImage(image)
        place.setFocus()
        QTest.keyClick(place, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        driven.wait("the pasted image", lambda: driven.program.images.image() is not None)
        assert (driven.program.images.image().width, driven.program.images.image().height) == (96, 64)
        assert prompt.text() == "a harbour"
    QGuiApplication.clipboard().setText(" at night")
    prompt.setFocus()
    QTest.keyClick(prompt, Qt.Key.Key_End)
    QTest.keyClick(prompt, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert prompt.text() == "a harbour at night"
    driven.program.images.clear()


# ---- images of other programs


def facts(request):
    stage = request.cascade.stages[0]
    return {
        "prompt": request.prompt, "negative": request.negative_prompt, "seed": request.seed, "model": stage.model.id,
        "size": (stage.width, stage.height), "steps": stage.sampling.steps, "guidance": stage.sampling.guidance_scale,
        "sampler": stage.sampling.sampler, "schedule": stage.sampling.schedule,
    }  # fmt: skip


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("program", TOLD)
def test_an_image_of_another_program_gives_exactly_what_is_pressed(driven, tmp_path, program):
    path = told_by(program, tmp_path / f"{program}.png")
    for words, taken in (("Seed only", {"seed"}), ("Prompt only", {"prompt", "negative"}), ("Apply all", None)):
        driven.afresh("starter-dit", "what was there")
        driven.create.chosen.change(steps=33)
        before = facts(driven.create.request())
        dialog = driven.differences(path)
        assert program.lower() in dialog._facts.text().lower()
        driven.click(button(words, dialog))
        after = facts(driven.create.request())
        there = {
            "prompt": "a lighthouse", "negative": "fog", "seed": 77, "model": "starter-xl", "size": (64, 96),
            "steps": 9, "guidance": 3.5, "sampler": "euler", "schedule": "karras",
        }  # fmt: skip
        if taken is None:
            assert after == there
        else:
            assert after == before | {key: there[key] for key in taken}


@pytest.mark.slow
def test_an_image_of_ours_gives_its_request_back(driven):
    driven.afresh("starter-dit", "a lamp")
    driven.create.chosen.change(steps=3, guidance_scale=2.5)
    (image,) = driven.make()
    recorded = read_metadata(Path(image.path)).request
    driven.afresh("starter-xl", "something else")
    driven.click(button("Apply all", driven.differences(image.path)))
    again = facts(driven.create.request())
    assert again == facts(recorded) and again["seed"] == image.seed
    (same,) = driven.make()
    assert same.sha256 == image.sha256


# ---- models and folders


@pytest.mark.slow
def test_a_model_that_is_dropped_can_be_chosen_and_used_at_once(driven, tmp_path):
    shutil.copytree(STARTER / "dit", tmp_path / "my-own-model")
    driven.afresh("starter-xl", "a yellow moon")
    driven.drop(tmp_path / "my-own-model")
    assert "my-own-model" in driven.say_yes()
    box = driven.page.basics.model_box
    driven.wait("the model in the list", lambda: "my-own-model" in [one.value for one in box.choices()])
    driven.wait("the message", lambda: "my-own-model" in driven.window.line.message.whole_text())
    driven.choose(box, "my-own-model")
    driven.create.chosen.change(steps=2)
    (image,) = driven.make()
    assert read_metadata(Path(image.path)).request.cascade.stages[0].model.id == "my-own-model"


@pytest.mark.slow
def test_a_folder_of_images_becomes_one_entry_and_is_made(driven, saved_image):
    given = [saved_image(f"holiday/{name}.png", seed=number) for number, name in enumerate(("a", "b", "c"))]
    driven.afresh("starter-dit", "a {red|blue} sky")
    driven.create.chosen.change(steps=2)
    driven.drop(given[0].parent)
    assert "holiday" in driven.say_yes()
    driven.wait("the images", lambda: len(driven.saved) == 6 and driven.program.runner.task() is None)
    assert set(driven.ended) == {None}
    requests = [read_metadata(Path(image.path)).request for image in driven.saved]
    assert [request.images[0].path for request in requests] == [str(path) for path in given for _ in range(2)]
    assert [request.prompt for request in requests] == ["a red sky", "a blue sky"] * 3
    entries = []
    driven.program.access.ask(lambda store: store.rows(), entries.extend)
    driven.wait("the entries", lambda: entries)
    assert entries[-1].tasks == 6


def test_a_lora_that_is_dropped_twice_is_there_once(driven, tmp_path):
    driven.afresh("starter-xl", "a lamp")
    driven.window.dialogs._add_lora(str(tmp_path / "style.safetensors"))
    driven.window.dialogs._add_lora(str(tmp_path / "style.safetensors"))
    assert driven.create.request().loras == (LoraRef(path=str(tmp_path / "style.safetensors")),)
