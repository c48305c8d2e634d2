"""The pages, and what happens between them."""

from types import SimpleNamespace

import pytest
from fake_engine import model_info
from fake_setup import INSTALLED, made_setup
from PySide6.QtCore import QEvent, QMimeData, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication

from mezzotint.jobs.store import JobStore, Task
from mezzotint.library_protocol import ModelCard
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage
from mezzotint_app.amounts import left_text
from mezzotint_app.program import Program
from mezzotint_app.viewmodel.models.cards import lora_data
from mezzotint_app.windows.main_window import BATCH, CREATE, FIRST_RUN, GALLERY, MODELS, QUEUE, TRAIN, MainWindow
from mezzotint_app.windows.queue.paused_notice import PausedNotice


def page(window):
    return window.pages.currentIndex()


def test_a_new_person_is_welcomed(qtbot, program):
    window = MainWindow(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    window.show()
    assert page(window) == FIRST_RUN
    assert not window.rail.isVisible()
    window.first_run.skipped.emit()
    assert page(window) == CREATE
    assert window.rail.isVisible()
    assert program.settings.value().first_run_done


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("number", [CREATE, QUEUE, GALLERY, MODELS, BATCH, TRAIN])
def test_keys_go_to_pages_and_the_page_is_kept(qtbot, window, program, number):
    qtbot.keyClick(window, Qt.Key(Qt.Key.Key_1.value + number), Qt.KeyboardModifier.ControlModifier)
    assert page(window) == number
    assert window.rail.button(number).isChecked()
    assert program.window_state.value().page == number


def test_a_model_is_taken_to_the_create_page(window, program):
    window.models_page.use_asked.emit("starter-xl")
    assert page(window) == CREATE
    assert program.create.chosen.model() == "starter-xl"


def test_an_image_of_the_gallery_becomes_the_starting_image(window, program):
    window.gallery_page.use_as_input.emit("/images/a.png")
    assert page(window) == CREATE
    assert program.images.path() == "/images/a.png"


def test_without_an_engine_the_status_bar_leads_to_its_installation(qtbot, program, tmp_path, inline):
    made = made_setup(tmp_path, inline)
    program.setup = made.model
    window = MainWindow(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    window.first_run.skipped.emit()
    assert page(window) == CREATE and window.line.engine.text() == "No engine installed"
    window.line.engine.click()
    assert page(window) == FIRST_RUN
    made.model.install()
    assert window.line.engine.text() == "Installing the engine"
    made.runs.done("install", "1.0-cu130")
    assert window.line.engine.text() == "Engine installed"


def test_an_entry_is_edited_again(window, program):
    stage = Stage(model=ModelRef(id="starter-dit"))
    window.queue_page.edit_again.emit(GenerateRequest(prompt="a boat", seed=5, cascade=Cascade(stages=(stage,))))
    assert page(window) == CREATE
    assert program.create.request().prompt == "a boat"
    assert program.create.request().seed == 5


def test_a_drop_is_looked_at(qtbot, window, program, asked):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/images/a.png")])
    where, keys, buttons = window.rect().center(), Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    entered = QDragEnterEvent(where, Qt.DropAction.CopyAction, data, buttons, keys)
    window.dragEnterEvent(entered)
    assert entered.isAccepted()
    window.dropEvent(QDropEvent(QPointF(where), Qt.DropAction.CopyAction, data, buttons, keys, QEvent.Type.Drop))
    assert asked.last("examine").params == {"paths": ("/images/a.png",)}


def test_a_lora_dragged_from_their_list_is_used_unasked_and_may_not_fit(window, program, asked):
    card = ModelCard(path="/l/ink.safetensors", name="ink", base="Sana", families=("sana",), trigger_words=("inky",))
    program.cards.refresh_loras()
    asked.answer((card,), "loras")
    data = lora_data(card)  # Qt's event does not keep it
    program.create.models.use((model_info(id="base", family="sdxl"),))
    program.create.chosen.set_model("base")
    keys, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    window.dropEvent(QDropEvent(QPointF(), Qt.DropAction.CopyAction, data, buttons, keys, QEvent.Type.Drop))
    assert "examine" not in asked.methods()
    assert [one.path for one in program.create.request().loras] == [card.path]
    assert program.create.prompts.prompt() == "inky"
    assert "ink is for another kind of model (Sana)" in window.line.message.text()
    program.create.models.use((model_info(id="base", family="sdxl"), model_info(id="dusk", family="sana")))
    window.dialogs.lora_chosen.emit(card)
    assert program.create.chosen.model() == "dusk"
    assert [one.path for one in program.create.request().loras] == [card.path]
    assert window.line.message.text() == "dusk was chosen, which ink is for."


def test_what_cannot_be_used_is_not_taken(window):
    nothing = QMimeData()  # Qt's event does not keep it
    entered = QDragEnterEvent(
        window.rect().center(),
        Qt.DropAction.CopyAction,
        nothing,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    entered.ignore()
    window.dragEnterEvent(entered)
    assert not entered.isAccepted()


def test_files_are_pasted(qtbot, window, program, asked):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/images/b.png")])
    QGuiApplication.clipboard().setMimeData(data)
    window.show_page(GALLERY)
    qtbot.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QGuiApplication.clipboard().clear()  # which must not outlive Python
    assert asked.last("examine").params == {"paths": ("/images/b.png",)}


def test_messages_are_gathered_until_they_are_closed(window):
    window.show_notice("first <b>")
    window.show_notice("second")
    window.show_notice("second")
    assert window.notice.text() == "first <b>\nsecond"
    window.show_notice("x" * 10_000)
    assert len(window.notice.text()) <= 2000


def test_its_place_is_kept(qtbot, window, program):
    window.resize(window.minimumWidth(), 650)  # a screen without a display is small
    qtbot.waitUntil(lambda: program.window_state.value().geometry != "")
    again = MainWindow(program)
    qtbot.addWidget(again, before_close_func=lambda one: one.leave())
    assert again.size() == window.size()


@pytest.mark.parametrize("geometry", ["!", "AAAA", "x" * 100])
def test_a_damaged_place_is_left_alone(qtbot, program, used, geometry):
    program.window_state.change(geometry=geometry, page=77)
    window = MainWindow(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    assert page(window) == CREATE


def test_without_work_it_closes_at_once(qtbot, window):
    with qtbot.waitSignal(window.closing):
        window.close()
    assert not window.isVisible()


@pytest.mark.parametrize(
    ("choice", "button", "goes_on"), [("ask", "continue_button", True), ("ask", "stop_button", False)]
)
def test_with_work_left_it_asks(qtbot, window, program, monkeypatch, choice, button, goes_on):
    monkeypatch.setattr(program.queue.summary, "work_left", lambda: True)
    program.settings.change(when_closed=choice)
    window.close()
    assert window.isVisible()
    dialog = window.dialogs._open["leaving"]
    with qtbot.waitSignal(window.closing):
        qtbot.mouseClick(getattr(dialog, button), Qt.MouseButton.LeftButton)
    assert program.continue_in_background == goes_on


@pytest.mark.parametrize(("choice", "goes_on"), [("go_on", True), ("stop", False)])
def test_with_work_left_it_does_what_was_settled(qtbot, window, program, monkeypatch, choice, goes_on):
    monkeypatch.setattr(program.queue.summary, "work_left", lambda: True)
    program.settings.change(when_closed=choice)
    with qtbot.waitSignal(window.closing):
        window.close()
    assert program.continue_in_background == goes_on


@pytest.mark.parametrize("choice", ["ask", "stop"])
@pytest.mark.parametrize(("work", "paused"), [(True, True), (False, False)])
def test_a_queue_that_was_stopped_begins_nothing_at_the_next_start(
    qtbot, window, program, monkeypatch, choice, work, paused
):
    stage = Stage(model=ModelRef(id="starter-dit"))
    monkeypatch.setattr(program.batches, "work_left", lambda: not work)
    program.settings.change(when_closed=choice)
    if work:
        request = GenerateRequest(prompt="a boat", cascade=Cascade(stages=(stage,)))
        program.access.change(lambda store: store.add([request] * 3))
        qtbot.waitUntil(program.queue.summary.work_left)
    with qtbot.waitSignal(window.closing):
        window.close()
        if choice == "ask":
            window.dialogs._open["leaving"].stop_button.click()
    with qtbot.waitCallback() as gone:
        program.leave(gone)
    with JobStore.open().store as store:
        assert (store.paused(), store.count(("waiting",))) == (paused, int(work))


@pytest.mark.parametrize("choice", ["ask", "go_on"])
def test_a_batch_that_runs_is_asked_about_and_stops(qtbot, window, program, monkeypatch, choice):
    monkeypatch.setattr(program.batches, "work_left", lambda: True)
    program.settings.change(when_closed=choice)
    window.close()
    dialog = window.dialogs._open["leaving"]
    assert window.isVisible() and not dialog.continue_button.isVisible()
    with qtbot.waitSignal(window.closing):
        qtbot.mouseClick(dialog.stop_button, Qt.MouseButton.LeftButton)
    assert not program.continue_in_background


def test_training_and_batch_are_stopped_before_the_queue_lets_go(program, monkeypatch):
    order = []
    live = program.train.runs.live
    monkeypatch.setattr(live, "shut_down", lambda then: (order.append("training"), then()))
    monkeypatch.setattr(program.batches, "shut_down", lambda then: (order.append("batch"), then()))
    monkeypatch.setattr(program.runner, "shut_down", lambda then: (order.append("queue"), then()))
    program.leave(lambda: order.append("gone"))
    assert order == ["training", "batch", "queue", "gone"]


def test_what_stands_in_the_way_of_a_batch_is_told_where_it_is_seen(window, program):
    window.show_page(BATCH)
    window.batch_page.start.click()
    assert "Choose an image folder" in window.batch_page.fields()["folder"].problem()
    assert not window.notice.text()


def test_the_first_image_is_asked_for_with_one_click(qtbot):
    program = Program(engine=("nothing",), librarian=("nothing",))
    window = MainWindow(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    with qtbot.waitSignal(program.access.opened):
        program.access.open()
    with qtbot.waitSignal(program.create.queued):
        window.first_run.make_asked.emit("a red house")
    titles = []
    program.access.ask(lambda store: [row.title for row in store.rows()], titles.extend)
    qtbot.waitUntil(lambda: titles == ["a red house"])
    program.finish()


def test_what_is_true_no_more_is_no_longer_told(window, program):
    program.message.emit("the disk is full")
    program.message.emit("something else")
    program.resolved.emit("the disk is full")
    assert window.notice.text() == "something else"
    program.resolved.emit("something else")
    assert window.notice.isHidden()


def test_at_first_it_is_as_large_as_the_screen_allows(qtbot, program, used, monkeypatch):
    small = SimpleNamespace(availableGeometry=lambda: QRect(0, 0, 1280, 680))
    monkeypatch.setattr(MainWindow, "screen", lambda _self: small)
    window = MainWindow(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    assert window.width() <= 1280
    assert 560 <= window.height() <= 650


def test_a_paused_queue_is_told_over_generate(qtbot, window, program):
    (notice,) = window.create_page.footer.findChildren(PausedNotice)
    assert not notice.isVisible()
    program.runner.pause()
    qtbot.waitUntil(notice.isVisible)
    assert notice.geometry().bottom() < window.create_page.footer.generate_button().geometry().top()
    notice.resume.click()
    qtbot.waitUntil(lambda: not notice.isVisible())


def test_what_is_true_no_more_is_told_no_more(window, program):
    program.runner.message.emit("The queue is paused: the disk is full")
    program.runner.message.emit("something else")
    program.runner.resolved.emit("The queue is paused: the disk is full")
    assert window.notice.text() == "something else"


def test_the_create_page_and_the_status_line_tell_one_count_and_one_time(window, program, monkeypatch):
    stage = Stage(model=ModelRef(id="starter-dit"))
    request = GenerateRequest(prompt="a boat", seed=5, count=5, cascade=Cascade(stages=(stage,)))
    task = Task(
        id=1, entry=1, index=0, request=request, state="running", attempts=1, error_kind=None, error=None, images=(),
        seconds=None,
    )  # fmt: skip
    program.runner.started.emit(task)
    monkeypatch.setattr(program.queue.running, "words", lambda: "4 of 15")
    monkeypatch.setattr(program.queue.running, "entry_seconds_left", lambda: 120.0)
    assert program.create.preview.line().startswith("4 of 15")
    assert left_text(120.0) in program.create.preview.line()
    assert left_text(120.0) in program.queue.summary.text()


@pytest.mark.parametrize("first", [True, False])
def test_an_installation_is_shown_and_its_version_is_opened(qtbot, program, used, tmp_path, inline, first):
    program.setup = made_setup(tmp_path, inline, first=first, look=INSTALLED).model
    window = MainWindow(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    window.show()
    window.engine_notice.setup_asked.emit()
    assert (page(window) == FIRST_RUN) == first == ("settings" not in window.dialogs._open)
    with qtbot.waitSignal(window.closing):
        program.setup.restart_wanted.emit()
    assert program.start_again
