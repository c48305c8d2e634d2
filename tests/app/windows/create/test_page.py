"""The whole Create page: Generate, the plan, the keyboard and the wheel."""

import pytest
from accessibility import spoken_name
from create_page import clicked, kit_of, page_of
from made_plans import GB, plan
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.create.page import CreatePage


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


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
    assert "\n" not in kit.create.prompts.prompt()


def test_generate_by_the_button_and_the_menu(kit, page):
    clicked(page.footer.generate_button())
    kit.write("a boat")
    page.footer.actions_of_more()[0].trigger()
    assert [row.title for row in kit.queued()] == ["a boat", "a house"]


def test_what_stands_in_the_way_is_shown_and_gets_the_keyboard(kit, page, qtbot):
    said = []
    page.message.connect(said.append)
    page.sections.sections()["cascade"].set_open(False)
    kit.create.chosen.change(second_pass=True, second_upscaler="lanczos")
    qtbot.waitUntil(lambda: bool(page.footer.problem()))
    assert page.fields()["second_upscaler"].problem() == page.footer.problem()
    clicked(page.footer.generate_button())
    assert kit.queued() == []
    assert said == [page.footer.problem()]
    assert page.sections.sections()["cascade"].is_open()
    assert QApplication.focusWidget() is page.sections.cascade.choice("second_upscaler")
    kit.create.chosen.reset(["second_upscaler"])
    qtbot.waitUntil(lambda: not page.footer.problem())
    assert page.fields()["second_upscaler"].problem() == ""


def test_an_empty_prompt_is_no_reproach_before_generate(kit, page):
    kit.create.prompts.set_prompt("")
    page.show_model()
    assert page.fields()["prompt"].problem() == ""
    assert page.footer.problem()
    page.generate()
    assert QApplication.focusWidget() is page.prompts.prompt


def test_the_button_says_how_many(kit, page, qtbot):
    kit.create.chosen.change(count=3)
    page.prompts.prompt.selectAll()
    QTest.keyClicks(page.prompts.prompt, "a {red|blue} house")
    qtbot.waitUntil(lambda: page.footer.generate_button().text() == "Generate 6 images")


def test_the_command_is_put_on_the_clipboard(kit, page):
    kit.create.seed.set(5)
    page.footer.actions_of_more()[2].trigger()
    assert QGuiApplication.clipboard().text().startswith("mezzotint generate --model base --seed 5")


def test_the_plan_is_shown_in_words_and_as_a_bar(kit, page, qtbot):
    qtbot.waitUntil(lambda: bool(kit.engine.open("plan")))
    kit.engine.answer(plan(), method="plan")
    assert page.footer.plan_text().startswith("Needs 3.6 GB of 8.0 GB")
    assert "weights 2.0 GB" in page.footer._bar.accessibleName()
    assert "9.1 GB" in page.footer._line.toolTip() and page.footer.reasons() == ""
    clicked(page.footer.why_button())
    assert "9.1 GB" in page.footer.reasons()
    clicked(page.footer.why_button())
    assert page.footer.reasons() == ""
    kit.create.chosen.change(steps=12)
    qtbot.waitUntil(lambda: bool(kit.engine.open("plan")))
    kit.engine.answer(plan(fits=False, smallest_vram_bytes=9 * GB), method="plan")
    assert page.footer.plan_text().startswith("Does not fit")
    assert page.footer._line.isHidden()


def test_an_engine_that_starts_says_so(kit, page):
    kit.life.become("starting")
    assert "starting" in page.footer.plan_text()


def test_folds_remember_whether_they_are_open(kit, page, qtbot):
    page.sections.sections()["lora"].set_open(False)
    other = CreatePage(kit.create, Thumbnails(kit.librarian, kit.pool), kit.pool)
    qtbot.addWidget(other)
    assert not other.sections.sections()["lora"].is_open()
    assert other.sections.sections()["memory"].is_open()


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
    unnamed = [widget for widget in seen if not spoken_name(widget) or not widget.toolTip()]
    assert not [
        type(widget).__name__ for widget in unnamed if page.isAncestorOf(widget) and widget is not page.result.view
    ]


def test_what_gets_the_keyboard_comes_into_sight_also_what_was_added_later(kit, page, qtbot):
    kit.create.chosen.change(loras=(LoraChoice(path="/a.safetensors"),))
    page.show_model()
    QApplication.processEvents()
    for widget in (page.sections.loras.rows()[0].parts()["remove"], page.prompts.prompt, page.sections.memory.compile):
        widget.setFocus()
        qtbot.waitUntil(lambda widget=widget: 0 <= widget.mapTo(page, QPoint(0, 0)).y() < page.footer.y())


def test_a_section_that_is_opened_comes_into_sight(kit, page, qtbot):
    section = page.sections.sections()["regions"]
    section.set_open(False)
    section.head().setFocus()
    page._scroll.ensureWidgetVisible(section.head(), 0, 24)
    section.head().click()
    add = page.sections.regions.add
    qtbot.waitUntil(lambda: 0 <= add.mapTo(page, QPoint(0, 0)).y() < page.footer.y() - add.height())
    add.click()
    prompt = page.sections.regions.rows()[0].prompt
    assert prompt.hasFocus()
    qtbot.waitUntil(lambda: 0 <= prompt.mapTo(page, QPoint(0, 0)).y() <= page.footer.y() - prompt.height())


def test_the_wheel_scrolls_the_page_and_changes_nothing(kit, page):
    for widget in (
        page.basics.count,
        page.sections.sampling.controls["steps"].spin(),
        page.sections.sampling.controls["sampler"],
    ):
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
