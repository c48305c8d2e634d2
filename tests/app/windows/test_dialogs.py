"""Each dialog opens once, and does what it was opened for."""

import pytest
from fake_engine import model_info
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QDialog
from shiboken6 import isValid

from mezzotint.library_protocol import ModelCard
from mezzotint.protocol import ImageMetadata
from mezzotint_app.viewmodel.dropped.folder_of_images import Images

METADATA = ImageMetadata(
    program="a1111",
    prompt="a green hill",
    negative_prompt=None,
    width=128,
    height=128,
    seed=77,
    steps=9,
    sampler=None,
    schedule=None,
    guidance_scale=None,
    strength=None,
    model=None,
    model_hash=None,
    request=None,
    other={},
)


def opened(window):
    return [one for one in window.findChildren(QDialog) if one.isVisible()]


@pytest.mark.parametrize("name", ["settings", "keys", "log", "places", "get_model"])
def test_a_dialog_is_there_once(qtbot, window, name):
    getattr(window.dialogs, name)()
    (dialog,) = opened(window)
    getattr(window.dialogs, name)()
    assert opened(window) == [dialog]
    dialog.reject()
    qtbot.waitUntil(lambda: opened(window) == [])
    getattr(window.dialogs, name)()
    assert len(opened(window)) == 1


def test_a_smaller_copy_is_begun_when_it_is_agreed_to(qtbot, window, program, asked):
    program.library.refresh()
    asked.answer((model_info(id="apple", family="sdxl"),), "models")
    window.dialogs.quantize("apple")
    (dialog,) = opened(window)
    assert "quantize" not in asked.methods()
    dialog.accept()
    assert asked.last("quantize").params.model == "apple"


def test_nothing_opens_for_a_model_that_is_gone(window):
    window.dialogs.quantize("nothing")
    assert opened(window) == []


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("what", "expected"),
    [("all", ("a green hill", 77, 9)), ("prompt", ("a green hill", None, None)), ("seed", ("", 77, None))],
)
def test_settings_of_an_image_are_taken(qtbot, window, program, asked, what, expected):
    window.dialogs.settings_of_image("/images/a.png")
    asked.answer(METADATA, "metadata")
    (dialog,) = opened(window)
    with qtbot.waitSignal(window.dialogs.applied):
        dialog._model.apply(what)
    request = program.create.request()
    assert (request.prompt, request.seed, request.cascade.stages[0].sampling.steps) == expected


def test_another_image_takes_the_place_of_the_first(qtbot, window, asked):
    window.dialogs.settings_of_image("/images/a.png")
    window.dialogs.settings_of_image("/images/b.png")
    qtbot.waitUntil(lambda: len(opened(window)) == 1)
    assert opened(window)[0]._model.path() == "/images/b.png"


def test_a_lora_that_was_dropped_is_in_the_list(window, program):
    window.dialogs.questions.lora_accepted.emit("/loras/paint.safetensors")
    assert [one.path for one in program.create.request().loras] == ["/loras/paint.safetensors"]


def test_loras_open_beside_the_prompt(window):
    window.show()
    window.dialogs.loras()
    (dialog,) = opened(window)
    prompt = window.create_page.prompts.prompt
    assert dialog.x() > prompt.mapToGlobal(prompt.rect().center()).x()


def test_return_beside_loras_adds_only_what_is_searched_for(qtbot, window, program, asked):
    window.dialogs.loras()
    (dialog,) = opened(window)
    cards = [ModelCard(path=f"/l/{name}.safetensors", name=name) for name in ("fog", "ink")]
    asked.answer(tuple(cards), "loras")
    dialog.browser.search.setText("ink")
    qtbot.keyClick(dialog.browser.panel.tags, Qt.Key.Key_Return)
    assert program.create.request().loras == () and not program.create.prompts.prompt()
    qtbot.keyClick(dialog.browser.search, Qt.Key.Key_Return)
    assert [one.path for one in program.create.request().loras] == ["/l/ink.safetensors"]
    assert dialog.isVisible()


def test_a_folder_of_images_becomes_one_entry(qtbot, window, program):
    program.create.prompts.set_prompt("in winter")
    with qtbot.waitSignal(program.access.changed):
        window.dialogs.questions.batch_accepted.emit(Images(folder="/trip", paths=("/trip/a.png", "/trip/b.png")))
    entries = []
    program.access.ask(lambda store: [store.entry(row.id) for row in store.rows()], entries.extend)
    qtbot.waitUntil(lambda: bool(entries))
    (entry,) = entries
    assert [task.request.images[0].path for task in entry.tasks] == ["/trip/a.png", "/trip/b.png"]
    assert {task.request.prompt for task in entry.tasks} == {"in winter"}


def test_the_log_grows_while_it_is_open(qtbot, window, program):
    window.dialogs.log()
    (dialog,) = opened(window)
    program.engine.logged.emit("a line of the log")
    assert "a line of the log" in dialog.lines.toPlainText()
    dialog.reject()
    qtbot.waitUntil(lambda: not isValid(dialog))
    program.engine.logged.emit("another line")


@pytest.mark.parametrize(
    ("method", "answer", "show"),
    [
        ("known_models", (), lambda dialogs: dialogs.get_model()),
        ("metadata", METADATA, lambda dialogs: dialogs.settings_of_image("/images/a.png")),
    ],
)
def test_an_answer_that_comes_after_the_dialog_is_closed_harms_nobody(qtbot, window, asked, method, answer, show):
    show(window.dialogs)
    (dialog,) = opened(window)
    dialog.reject()
    qtbot.waitUntil(lambda: not isValid(dialog))
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    asked.answer(answer, method)
    assert opened(window) == []


def test_a_large_folder_that_was_dropped_fills_the_batch_page_in(qtbot, window, program):
    deep = tuple(f"/photos/{place}{n}.png" for n in range(20) for place in ("", "below/"))
    with qtbot.waitSignal(window.dialogs.batch_wanted):
        window.dialogs.questions.folder_accepted.emit(Images(folder="/photos", paths=deep))
    form = program.batch.form()
    assert (form.source, form.folder, form.recursive) == ("folder", "/photos", True)
    window.dialogs.questions.folder_accepted.emit(Images(folder="/flat", paths=("/flat/a.png",)))
    assert (program.batch.form().folder, program.batch.form().recursive) == ("/flat", False)


def test_a_job_that_was_dropped_is_opened(qtbot, window, program, asked):
    with qtbot.waitSignal(window.dialogs.batch_wanted):
        program.dropped.job.emit("/jobs/night.toml")
    assert asked.last("batch_read").params == {"path": "/jobs/night.toml"}


def test_the_create_page_is_kept_as_a_job(window, program, asked):
    program.create.prompts.set_prompt("a boat")
    ways = {action.text(): action for action in window.create_page.footer.actions_of_more()}
    ways["Save job file…"].trigger()
    (dialog,) = opened(window)
    dialog.fileSelected.emit("/jobs/boat.toml")
    dialog.reject()
    wanted = asked.last("batch_write").params
    assert wanted.path == "/jobs/boat.toml" and wanted.job["prompts"] == {"list": ["a boat"]}


def test_the_log_of_a_batch(window):
    window.batch_page.log_asked.emit("Rome", ("one", "two"))
    (dialog,) = opened(window)
    assert dialog.lines.toPlainText() == "one\ntwo"
