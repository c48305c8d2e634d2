"""Every control of the Create page: what is done there is what is asked for."""

from dataclasses import replace

import pytest
from create_page import generated, kit_of
from made_plans import GB, plan
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QWidget

from mezzotint.library_protocol import TokenCount
from mezzotint.protocol import Step
from mezzotint_app.service import Failure
from mezzotint_app.viewmodel.create_state import CreateSettings, LoraChoice
from mezzotint_app.viewmodel.dropped_data import held
from mezzotint_app.viewmodel.prompt_tokens import LONGEST
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.create_page import CreatePage

COUNT = TokenCount(encoder="text_encoder", tokens=3, limit=75, chunks=1, cut=0, honours_weights=True)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    kit.write("a house")
    page = CreatePage(kit.create, Thumbnails(kit.librarian, kit.pool), kit.pool)
    page.resize(1100, 760)
    qtbot.addWidget(page)
    for fold in page.folds.folds().values():
        fold.set_open(True)
    with qtbot.waitExposed(page):
        page.show()
    return page


def typed(spin, text):
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, text)
    QTest.keyClick(spin, Qt.Key.Key_Return)


def clicked(button):
    if isinstance(button, QCheckBox):
        QTest.keyClick(button, Qt.Key.Key_Space)
    else:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def first(request):
    return request.cascade.stages[0]


def sampling(request):
    return first(request).sampling


ACTIONS = {
    "prompt": (lambda p, k: QTest.keyClicks(p.prompts.prompt, "X"), lambda r: "X" in r.prompt, True),
    "negative": (lambda p, k: QTest.keyClicks(p.prompts.negative, "fog"), lambda r: r.negative_prompt, "fog"),
    "model": (lambda p, k: p.basics.model_box.choose("dit"), lambda r: first(r).model.id, "dit"),
    "preset": (
        lambda p, k: p.basics.size_picker.parts()["presets"].choose((1344, 768)),
        lambda r: (first(r).width, first(r).height),
        (1344, 768),
    ),
    "width": (
        lambda p, k: typed(p.basics.size_picker.parts()["width"], "768"),
        lambda r: (first(r).width, first(r).height),
        (768, 1024),
    ),
    "height": (
        lambda p, k: typed(p.basics.size_picker.parts()["height"], "640"),
        lambda r: (first(r).width, first(r).height),
        (1024, 640),
    ),
    "lock": (
        lambda p, k: (
            clicked(p.basics.size_picker.parts()["lock"]),
            typed(p.basics.size_picker.parts()["width"], "512"),
        ),
        lambda r: (first(r).width, first(r).height),
        (512, 512),
    ),
    "swap": (
        lambda p, k: (
            p.basics.size_picker.parts()["presets"].choose((1344, 768)),
            clicked(p.basics.size_picker.parts()["swap"]),
        ),
        lambda r: (first(r).width, first(r).height),
        (768, 1344),
    ),
    "own size": (
        lambda p, k: (
            p.basics.size_picker.parts()["presets"].choose((1344, 768)),
            p.basics.size_picker.parts()["presets"].choose("own"),
        ),
        lambda r: (first(r).width, first(r).height),
        (None, None),
    ),
    "count": (lambda p, k: typed(p.basics.count, "4"), lambda r: r.count, 4),
    "seed": (lambda p, k: QTest.keyClicks(p.basics.seed.line(), "9223372036854775807"), lambda r: r.seed, 2**63 - 1),
    "keep seed": (lambda p, k: clicked(p.basics.seed.buttons()[0]), lambda r: r.seed is not None, True),
    "dice": (lambda p, k: clicked(p.basics.seed.buttons()[1]), lambda r: r.seed is not None, True),
    "steps": (lambda p, k: typed(p.folds.sampling.steps.spin(), "44"), lambda r: sampling(r).steps, 44),
    "many steps": (lambda p, k: typed(p.folds.sampling.steps.spin(), "777"), lambda r: sampling(r).steps, 777),
    "steps by slider": (
        lambda p, k: QTest.keyClick(p.folds.sampling.steps.slider(), Qt.Key.Key_Right),
        lambda r: sampling(r).steps,
        31,
    ),
    "guidance": (
        lambda p, k: typed(p.folds.sampling.guidance.spin(), "3.5"),
        lambda r: sampling(r).guidance_scale,
        3.5,
    ),
    "rescale": (
        lambda p, k: typed(p.folds.sampling.rescale.spin(), "0.7"),
        lambda r: sampling(r).guidance_rescale,
        0.7,
    ),
    "clip skip": (lambda p, k: typed(p.folds.sampling.clip_skip.spin(), "2"), lambda r: sampling(r).clip_skip, 2),
    "sampler": (lambda p, k: p.folds.sampling.sampler.choose("heun"), lambda r: sampling(r).sampler, "heun"),
    "schedule": (lambda p, k: p.folds.sampling.schedule.choose("karras"), lambda r: sampling(r).schedule, "karras"),
    "refiner": (
        lambda p, k: p.folds.cascade.choice("refiner").choose("refiner"),
        lambda r: (r.cascade.stages[1].model.id, first(r).until),
        ("refiner", 0.8),
    ),
    "refiner at": (
        lambda p, k: (
            p.folds.cascade.choice("refiner").choose("refiner"),
            p.show_model(),
            typed(p.folds.cascade.number("refiner_at").spin(), "0.6"),
        ),
        lambda r: first(r).until,
        0.6,
    ),
    "second pass": (
        lambda p, k: clicked(p.folds.cascade.second_pass()),
        lambda r: (r.cascade.transitions[0].scale, r.cascade.transitions[0].strength),
        (1.5, 0.5),
    ),
    "vae scale": (
        lambda p, k: (
            clicked(p.folds.cascade.second_pass()),
            p.show_model(),
            typed(p.folds.cascade.number("second_scale").spin(), "2"),
            typed(p.folds.cascade.number("second_strength").spin(), "0.3"),
        ),
        lambda r: (r.cascade.transitions[0].scale, r.cascade.transitions[0].strength),
        (2.0, 0.3),
    ),
    "space": (
        lambda p, k: (
            clicked(p.folds.cascade.second_pass()),
            p.folds.cascade.choice("second_space").choose("pixel"),
            p.folds.cascade.choice("second_upscaler").choose("lanczos"),
        ),
        lambda r: (r.cascade.transitions[0].space, r.cascade.transitions[0].upscaler),
        ("pixel", "lanczos"),
    ),
    "lora": (
        lambda p, k: p.folds.loras.add(["/a.safetensors"]),
        lambda r: [(one.path, one.weight) for one in r.loras],
        [("/a.safetensors", 1.0)],
    ),
    "embedding": (lambda p, k: p.folds.embeddings.add(["/a.pt"]), lambda r: r.embeddings, ("/a.pt",)),
    "memory": (lambda p, k: p.folds.memory.memory.choose("lowest"), lambda r: r.memory, "lowest"),
    "weights": (lambda p, k: p.folds.memory.quantization.choose("int4"), lambda r: r.quantization, "int4"),
    "text weights": (
        lambda p, k: p.folds.memory.text_quantization.choose("int8"),
        lambda r: r.text_quantization,
        "int8",
    ),
    "compile": (lambda p, k: clicked(p.folds.memory.compile), lambda r: r.compile, True),
    "picture": (lambda p, k: p.folds.picture.take(dropped("/p.png")), lambda r: r.images[0].path, "/p.png"),
}


def dropped(path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path)])
    return held(data)


@pytest.mark.parametrize("name", ACTIONS)
def test_what_is_done_is_what_is_asked_for_and_nothing_else(kit, page, name):
    act, seen, wanted = ACTIONS[name]
    act(page, kit)
    assert seen(kit.create.request()) == wanted
    page.show_model()
    assert seen(kit.create.request()) == wanted  # showing it changes nothing


def test_showing_a_page_changes_nothing(kit, page):
    before = kit.state.value()
    page.show_model()
    assert kit.state.value() == replace(before, open_folds=kit.state.value().open_folds)
    assert kit.create.chosen.settings() == CreateSettings()


@pytest.mark.parametrize(
    ("name", "fields"),
    [("steps", ["steps"]), ("guidance_scale", ["guidance_scale"]), ("clip_skip", ["clip_skip"]), ("size", ["width"])],
)
def test_the_way_back_to_the_models_own(kit, page, qtbot, name, fields):
    field = page.fields()[name]
    assert field.back_button().isHidden()
    kit.create.chosen.change(**{"width": 512, "height": 512} if name == "size" else dict.fromkeys(fields, 3))
    page.show_model()
    assert not field.back_button().isHidden()
    clicked(field.back_button())
    assert not kit.create.chosen.is_set(*fields)
    qtbot.waitUntil(field.back_button().isHidden)
    assert page.isAncestorOf(QApplication.focusWidget() or page)


def test_all_back_to_the_models_own(kit, page):
    assert not page.folds.all_own_button().isEnabled()
    kit.create.chosen.change(steps=3, sampler="euler", dtype="float16")
    page.show_model()
    clicked(page.folds.all_own_button())
    assert kit.create.chosen.settings() == CreateSettings()
    assert kit.create.words.prompt() == "a house"


def test_what_came_with_a_picture_is_shown_and_can_be_forgotten(kit, page):
    kit.create.chosen.change(prediction_type="v_prediction", steps=5)
    page.show_model()
    assert "v_prediction" in page.folds._kept.text()
    clicked(page.folds._forget)
    assert kit.create.chosen.settings() == CreateSettings(steps=5)


def test_the_models_own_values_stand_in_the_fields(kit, page, qtbot):
    sampling_ = page.folds.sampling
    assert (sampling_.steps.value(), sampling_.guidance.value()) == (30, 5.0)
    page.basics.model_box.choose("turbo")
    qtbot.waitUntil(lambda: sampling_.steps.value() == 4)
    assert sampling_.guidance.value() == 1.0
    assert kit.create.chosen.settings() == CreateSettings()
    assert page.basics.size_picker.parts()["width"].value() == 512
    assert "not read" in page.prompts.fields()["negative_prompt"].hint()


def test_models_that_cannot_be_run_are_listed_with_the_reason(page):
    by_name = {one.value: one.problem for one in page.basics.model_box.choices()}
    assert by_name["base"] == ""
    assert by_name["broken"] == "The file is damaged: it ends too early."
    row = [one.value for one in page.basics.model_box.choices()].index("broken")
    assert not page.basics.model_box.model().item(row).isEnabled()


def test_refiners_that_go_with_the_model_are_offered(kit, page):
    offered = [one.value for one in page.folds.cascade.choice("refiner").choices()]
    assert offered == [None, "refiner"]
    kit.create.chosen.set_model("dit")
    page.show_model()
    assert [one.value for one in page.folds.cascade.choice("refiner").choices()] == [None]
    assert page.folds.cascade.fields()["refiner"].hint()
    assert page.folds.sampling.fields()["clip_skip"].isHidden()


def test_schedules_that_the_sampler_runs_are_offered_and_the_other_is_kept(kit, page, qtbot):
    page.folds.sampling.schedule.choose("karras")
    page.folds.sampling.sampler.choose("lcm")
    page.show_model()
    assert [one.value for one in page.folds.sampling.schedule.choices()] == [None, "default"]
    assert "Karras" in page.folds.sampling.fields()["schedule"].hint()
    page.folds.sampling.sampler.choose("euler")
    page.show_model()
    assert page.folds.sampling.schedule.value() == "karras"


# ---- Generate


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        (Qt.KeyboardModifier.ControlModifier, ["a house", "a boat"]),
        (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, ["a boat", "a house"]),
    ],
)
@pytest.mark.parametrize("where", ["prompt", "count"])
def test_generate_by_the_keyboard(kit, page, keys, order, where):
    kit.create.generate()
    kit.write("a boat")
    page.show_model()
    widget = page.prompts.prompt if where == "prompt" else page.basics.count
    widget.setFocus()
    QTest.keyClick(widget, Qt.Key.Key_Return, keys)
    assert [row.title for row in kit.queued()] == order
    assert "\n" not in kit.create.words.prompt()


def test_generate_by_the_button_and_the_menu(kit, page):
    clicked(page.footer.generate_button())
    kit.write("a boat")
    page.footer.actions_of_more()[0].trigger()
    assert [row.title for row in kit.queued()] == ["a boat", "a house"]


def test_what_stands_in_the_way_is_shown_and_gets_the_keyboard(kit, page, qtbot):
    said = []
    page.told.connect(said.append)
    page.folds.folds()["cascade"].set_open(False)
    kit.create.chosen.change(second_pass=True, second_upscaler="lanczos")
    qtbot.waitUntil(lambda: bool(page.footer.problem()))
    assert page.fields()["second_upscaler"].problem() == page.footer.problem()
    clicked(page.footer.generate_button())
    assert kit.queued() == []
    assert said == [page.footer.problem()]
    assert page.folds.folds()["cascade"].is_open()
    assert QApplication.focusWidget() is page.folds.cascade.choice("second_upscaler")
    kit.create.chosen.reset(["second_upscaler"])
    qtbot.waitUntil(lambda: not page.footer.problem())
    assert page.fields()["second_upscaler"].problem() == ""


def test_an_empty_prompt_is_no_reproach_before_generate(kit, page):
    kit.create.words.set_prompt("")
    page.show_model()
    assert page.fields()["prompt"].problem() == ""
    assert page.footer.problem()
    page.generate()
    assert QApplication.focusWidget() is page.prompts.prompt


def test_the_button_says_how_many(kit, page, qtbot):
    kit.create.chosen.change(count=3)
    page.prompts.prompt.selectAll()
    QTest.keyClicks(page.prompts.prompt, "a {red|blue} house")
    qtbot.waitUntil(lambda: page.footer.generate_button().text() == "Generate 6 pictures")


def test_the_command_is_put_on_the_clipboard(kit, page):
    kit.create.seed.set(5)
    page.footer.actions_of_more()[1].trigger()
    assert QGuiApplication.clipboard().text().startswith("mezzotint generate --model base --seed 5")


# ---- the plan


def test_the_plan_is_shown_in_words_and_as_a_bar(kit, page, qtbot):
    qtbot.waitUntil(lambda: bool(kit.engine.open("plan")))
    kit.engine.answer(plan(), method="plan")
    assert page.footer.plan_words().startswith("Needs 3.6 GB of 8.0 GB")
    assert "weights 2.0 GB" in page.footer._bar.accessibleName()
    assert "9.1 GB" in page.footer._line.toolTip()
    kit.create.chosen.change(steps=12)
    qtbot.waitUntil(lambda: bool(kit.engine.open("plan")))
    kit.engine.answer(plan(fits=False, smallest_vram_bytes=9 * GB), method="plan")
    assert page.footer.plan_words().startswith("Does not fit")
    assert page.footer._line.isHidden()


def test_an_engine_that_starts_says_so(kit, page):
    kit.life.become("starting")
    assert "starting" in page.footer.plan_words()


# ---- words


def test_tokens_and_weights_that_nobody_reads(kit, page, qtbot):
    qtbot.waitUntil(lambda: bool(kit.librarian.open("tokens")))
    for one in kit.librarian.open("tokens"):
        kit.librarian.answer((replace(COUNT, honours_weights=False),), call=one.call)
    assert page.prompts.token_lines()[0].words() == "3 of 75 tokens"
    before = kit.create.words.prompt()
    QTest.keyClick(page.prompts.prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert kit.create.words.prompt() == before
    assert "does not weigh" in page.prompts.token_lines()[0].words()


def test_history_by_the_keyboard(kit, page):
    kit.create.generate()
    kit.write("draft")
    page.show_model()
    QTest.keyClick(page.prompts.prompt, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    page.show_model()
    assert page.prompts.prompt.text() == "a house"
    QTest.keyClick(page.prompts.prompt, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    page.show_model()
    assert page.prompts.prompt.text() == "draft"


def test_a_megabyte_is_not_pasted_and_nothing_is_lost(kit, page):
    said = []
    page.told.connect(said.append)
    QGuiApplication.clipboard().setText("x" * (1 << 20))
    page.prompts.prompt.paste()
    assert page.prompts.prompt.text() == kit.create.words.prompt() == "a house"
    assert str(LONGEST) in said[0]


def test_typing_beyond_what_can_be_read_stops_there(kit, page):
    kit.write("ab " * (LONGEST // 3) + "x")
    page.show_model()
    QTest.keyClicks(page.prompts.prompt, "y")
    assert page.prompts.prompt.text() == kit.create.words.prompt()
    assert len(kit.create.words.prompt()) == LONGEST


# ---- lists


def test_loras_are_switched_weighed_ordered_and_taken_out(kit, page):
    page.folds.loras.add(["/a.safetensors", "/b.safetensors", "/a.safetensors"])
    page.show_model()
    one, other = page.folds.loras.rows()
    clicked(one.parts()["down"])
    page.show_model()
    assert [lora.path for lora in kit.create.chosen.settings().loras] == ["/b.safetensors", "/a.safetensors"]
    typed(one.parts()["weight"].spin(), "-0.35")
    clicked(other.parts()["on"])
    assert kit.create.chosen.settings().loras == (
        LoraChoice(path="/b.safetensors", weight=-0.35),
        LoraChoice(path="/a.safetensors", on=False),
    )
    page.show_model()
    clicked(one.parts()["remove"])
    page.show_model()
    assert [lora.path for lora in kit.create.chosen.settings().loras] == ["/a.safetensors"]
    assert len(page.folds.loras.rows()) == 1


def test_dropped_files_that_are_no_loras_are_passed_over(kit, page):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x.png"), QUrl.fromLocalFile("/y.SAFETENSORS")])
    page.folds.loras.take(held(data))
    assert [lora.path for lora in kit.create.chosen.settings().loras] == ["/y.SAFETENSORS"]


def test_learned_words_are_added_and_taken_out(kit, page):
    page.folds.embeddings.add(["/a.pt", "/b.safetensors"])
    page.show_model()
    clicked(page.folds.embeddings.rows()[0].remove_button())
    assert kit.create.chosen.settings().embeddings == ("/b.safetensors",)


# ---- the picture


def running(kit):
    kit.create.generate()
    kit.runner.begin(kit.tasks(kit.entries[-1])[0])


def test_progress_and_cancel(kit, page):
    assert page.result.cancel_button().isHidden()
    running(kit)
    assert not page.result.cancel_button().isHidden()
    kit.runner.progressed.emit(
        kit.runner.task(), Step(image=0, images=1, stage=0, stages=1, step=2, steps=8, sigma=1.0, preview=None)
    )
    assert page.result.progress_words().startswith("Picture 1 of 1: step 2 of 8")
    clicked(page.result.cancel_button())
    assert kit.runner.stopped == 1
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert page.result.progress_words() == "Stopped."
    assert page.result.cancel_button().isHidden()


def test_results_can_be_shown_opened_and_begun_from(kit, page):
    opened, settings = [], []
    page.open_full_screen.connect(lambda paths, which: opened.append((paths, which)))
    page.show_settings_of.connect(settings.append)
    running(kit)
    for number in range(3):
        kit.runner.saved.emit(kit.runner.task(), generated(f"/{number}.png", seed=number))
    kit.runner.end()
    strip = page.result.strip
    assert strip.paths() == ("/2.png", "/1.png", "/0.png")
    strip.setCurrentIndex(strip.model().index(1, 0))
    assert kit.librarian.last("pixels").params.path == "/1.png"
    QTest.keyClick(strip, Qt.Key.Key_Return)
    assert opened == [(("/2.png", "/1.png", "/0.png"), 1)]
    actions = {action.text(): action for action in page.result.menu_for("/0.png").actions()}
    actions["Begin from this picture"].trigger()
    actions["Keep its seed"].trigger()
    actions["Its settings…"].trigger()
    request = kit.create.request()
    assert (request.images[0].path, request.seed, settings) == ("/0.png", 0, ["/0.png"])


def test_while_something_is_made_an_older_picture_can_be_looked_at(kit, page):
    running(kit)
    assert page.result.follow_button().isHidden()
    kit.create.preview.show_result("/old.png")
    assert not page.result.follow_button().isHidden()
    clicked(page.result.follow_button())
    assert page.result.follow_button().isHidden()


# ---- the keyboard and the wheel


def test_folds_remember_whether_they_are_open(kit, page, qtbot):
    page.folds.folds()["lora"].set_open(False)
    other = CreatePage(kit.create, Thumbnails(kit.librarian, kit.pool), kit.pool)
    qtbot.addWidget(other)
    assert not other.folds.folds()["lora"].is_open()
    assert other.folds.folds()["memory"].is_open()


def test_every_control_is_reached_by_tab_and_has_a_name(kit, page):
    kit.create.chosen.change(refiner="refiner", second_pass=True, steps=3, loras=(LoraChoice(path="/a.safetensors"),))
    page.show_model()
    page.prompts.prompt.setFocus()
    seen = []
    for _ in range(400):
        widget = QApplication.focusWidget()
        if widget in seen:
            break
        seen.append(widget)
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    focusable = {
        widget
        for widget in page.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusProxy() is None
    }
    unreached = focusable - set(seen)
    assert not unreached
    unnamed = [widget for widget in seen if not widget.accessibleName() or not widget.toolTip()]
    assert not [
        type(widget).__name__ for widget in unnamed if page.isAncestorOf(widget) and widget is not page.result.view
    ]


def test_the_wheel_scrolls_the_page_and_changes_nothing(kit, page):
    for widget in (page.basics.count, page.folds.sampling.steps.spin(), page.folds.sampling.sampler):
        page.setFocus()
        widget.clearFocus()
        event = QWheelEvent(
            QPointF(5, 5),
            QPointF(widget.mapToGlobal(QPoint(5, 5))),
            QPoint(0, 0),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)
    assert kit.create.chosen.settings() == CreateSettings()


@pytest.mark.parametrize("width", [700, 952, 1280])
def test_nothing_of_the_form_is_cut_at_the_side(kit, page, width):
    page.resize(width, 620)
    QApplication.processEvents()
    form = page._scroll.widget()
    assert form.minimumSizeHint().width() <= page._scroll.viewport().width()
