"""Nothing that was dropped is added without a yes; one question after the other, in plain text."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtWidgets import QWidget  # noqa: E402

from mezzotint.library_protocol import Dropped  # noqa: E402
from mezzotint_app.viewmodel.dropped.dropped import DropHandler  # noqa: E402
from mezzotint_app.viewmodel.dropped.folder_of_images import Images  # noqa: E402
from mezzotint_app.windows.dropped_questions import DroppedQuestions  # noqa: E402


@pytest.fixture
def handler(service, inline):
    return DropHandler(service, inline)


@pytest.fixture
def questions(qtbot, handler):
    window = QWidget()
    qtbot.addWidget(window)
    yield DroppedQuestions(handler, window)


@pytest.fixture
def accepted(questions):
    found = []
    for name in ("model_accepted", "lora_accepted", "batch_accepted"):
        getattr(questions, name).connect(lambda value, name=name: found.append((name, value)))
    return found


def thing(kind, path="/m/a.safetensors", detail="a model: <b>SDXL</b>"):
    return Dropped(path=path, kind=kind, detail=detail)


def say(questions, yes):
    box = questions.open_question()
    buttons = box.buttons()
    (chosen,) = [one for one in buttons if (one.text() != "Cancel") == yes]
    chosen.click()


def test_each_kind_is_asked_about_and_a_yes_is_told(questions, handler, accepted):
    images = Images(folder="/images", paths=("/images/1.png", "/images/2.png"))
    for tell in (
        lambda: handler.add_model.emit(thing("model")),
        lambda: handler.add_lora.emit(thing("lora")),
        lambda: handler.batch.emit(images),
    ):
        tell()
        assert accepted == [] or questions.open_question() is not None
        say(questions, True)
    assert accepted == [
        ("model_accepted", "/m/a.safetensors"),
        ("lora_accepted", "/m/a.safetensors"),
        ("batch_accepted", images),
    ]


def test_a_no_adds_nothing(questions, handler, accepted):
    handler.add_model.emit(thing("model_folder"))
    say(questions, False)
    assert accepted == []
    assert questions.open_question() is None


def test_closing_is_a_no(questions, handler, accepted):
    handler.add_model.emit(thing("model"))
    questions.open_question().reject()
    assert accepted == []
    assert questions.open_question() is None


def test_one_after_the_other_and_not_without_end(questions, handler, accepted):
    for number in range(100):
        handler.add_lora.emit(thing("lora", f"/{number}.safetensors"))
    answered = 0
    while questions.open_question() is not None:
        say(questions, True)
        answered += 1
    assert answered == len(accepted) <= 22


def test_strangers_words_are_plain_and_bounded(questions, handler):
    handler.add_model.emit(thing("model", "/" + "<b>n</b>" * 2_000, "\u202e" + "z" * 10_000))
    box = questions.open_question()
    assert box.textFormat() == Qt.TextFormat.PlainText
    assert len(box.informativeText()) < 1000
    assert "\u202e" not in box.informativeText()
    say(questions, False)


@pytest.mark.parametrize("complete", [True, False])
def test_a_large_folder_goes_to_the_batch_page_and_its_count_is_told_first(questions, handler, accepted, complete):
    went = []
    questions.folder_accepted.connect(went.append)
    images = Images(folder="/many", paths=tuple(f"/many/{n}.png" for n in range(123)), complete=complete)
    handler.batch.emit(images)
    box = questions.open_question()
    assert "123" in box.text() and ("more than" in box.text()) is not complete
    assert "many" in box.informativeText() and "Batch page" in box.informativeText()
    say(questions, True)
    assert went == [images] and accepted == []


def test_a_few_images_become_an_entry_of_the_queue(questions, handler, accepted):
    few = Images(folder="/few", paths=tuple(f"/few/{n}.png" for n in range(12)), complete=False)
    loose = Images(folder="", paths=tuple(f"/{n}.png" for n in range(40)))
    for images in (few, loose):
        handler.batch.emit(images)
        assert ("more images" in questions.open_question().informativeText()) is not images.complete
        say(questions, True)
    assert accepted == [("batch_accepted", few), ("batch_accepted", loose)]
