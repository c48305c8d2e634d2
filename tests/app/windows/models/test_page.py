"""The Models page shows the library and passes on what is asked."""

import pytest
from fake_engine import model_info
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QTableView

from mezzotint.library_protocol import GetRequest, ModelCard
from mezzotint.protocol import Progress
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.models.table import ID_ROLE
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.job_line import JobLine
from mezzotint_app.windows.models.page import ModelsPage

MODELS = (
    model_info(id="apple", family="sdxl", variant="base", path="/models/apple"),
    model_info(id="broken <b>", family="", variant="", problem="cut off"),
    model_info(id="pear", family="pixart", variant="sigma", scheme="int8"),
)


@pytest.fixture
def page(qtbot, library, service, inline):
    made = ModelsPage(library, ModelCards(service), Thumbnails(service, inline))
    qtbot.addWidget(made)
    made.show()
    return made


def table(page):
    return page.findChild(QTableView)


def test_the_first_model_is_looked_at(page):
    assert page.current() == "apple"
    assert page.details.use_button.isEnabled()


def test_a_model_can_be_found_by_its_name(page):
    page._filter.setText("PEA")
    shown = [table(page).model().index(row, 0).data(ID_ROLE) for row in range(table(page).model().rowCount())]
    assert shown == ["pear"]


def test_models_are_found_by_family_and_by_their_tags(page, service):
    def shown():
        return [table(page).model().index(row, 0).data(ID_ROLE) for row in range(table(page).model().rowCount())]

    page.family.choose("pixart")
    assert shown() == ["pear"]
    page.family.choose("")
    page._cards.read(["/models/apple"])
    service.answer((ModelCard(path="/models/apple", name="apple", tags=("red",), notes="mine"),), "cards")
    page.tag.choose("red")
    assert shown() == ["apple"]
    assert page.details.card.notes.toPlainText() == "mine"


def test_loras_are_searched_for_when_their_tab_is_opened(page, service):
    used = []
    page.lora_asked.connect(used.append)
    assert "loras" not in service.methods()
    page.tabs.setCurrentIndex(1)
    service.answer((ModelCard(path="/l/ink.safetensors", name="ink"),), "loras")
    page.loras.use_button.click()
    assert [one.name for one in used] == ["ink"]
    page.refresh_button.click()
    assert service.methods().count("loras") == 2


@pytest.mark.parametrize(
    ("identity", "use", "quantize"), [("apple", True, True), ("broken <b>", False, False), ("pear", True, False)]
)
def test_only_what_makes_sense_can_be_pressed(page, identity, use, quantize):
    page.select(identity)
    assert page.current() == identity
    assert page.details.use_button.isEnabled() == use
    assert page.details.quantize_button.isEnabled() == quantize
    assert page.details.remove_button.isEnabled()


@pytest.mark.parametrize(
    ("button", "signal", "args"),
    [
        ("use_button", "use_asked", ["apple"]),
        ("quantize_button", "quantize_asked", ["apple"]),
        ("reveal_button", "reveal_asked", ["/models/apple"]),
    ],
)
def test_buttons_of_a_model_pass_on_what_is_asked(qtbot, page, button, signal, args):
    with qtbot.waitSignal(getattr(page, signal)) as asked:
        qtbot.mouseClick(getattr(page.details, button), Qt.MouseButton.LeftButton)
    assert asked.args == args


@pytest.mark.parametrize(("button", "method"), [("verify_button", "verify"), ("remove_button", "forget_model")])
def test_buttons_of_a_model_ask_the_librarian(qtbot, page, service, button, method):
    qtbot.mouseClick(getattr(page.details, button), Qt.MouseButton.LeftButton)
    assert service.open(method)


def test_enter_makes_images_with_a_model_that_can(qtbot, page):
    with qtbot.waitSignal(page.use_asked) as asked:
        table(page).activated.emit(table(page).currentIndex())
    assert asked.args == ["apple"]
    page.select("broken <b>")
    with qtbot.assertNotEmitted(page.use_asked):
        table(page).activated.emit(table(page).currentIndex())


def test_a_folder_is_chosen_and_added(qtbot, page, service, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/data/models")
    qtbot.mouseClick(page.add_button, Qt.MouseButton.LeftButton)
    assert service.last("add_place").params == {"path": "/data/models"}
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    qtbot.mouseClick(page.add_button, Qt.MouseButton.LeftButton)
    assert service.methods().count("add_place") == 1


def test_jobs_come_and_go(qtbot, page, library, service):
    call = library.verify("apple")
    service.event(Progress(what="a", done=1, total=2, unit="bytes"), "verify")
    (line,) = page.findChildren(JobLine)
    line.cancel_asked.emit()
    assert service.cancelled == [call]
    service.fail(kind="cancelled", method="verify")
    qtbot.mouseClick(line.retry, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.findChildren(JobLine)) == 1 and page.findChildren(JobLine) != [line])
    (again,) = page.findChildren(JobLine)
    service.fail(kind="storage", method="verify")
    qtbot.mouseClick(again.dismiss, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.findChildren(JobLine) == [])


def test_what_goes_wrong_is_told_in_plain_text(page, library):
    library.message.emit("no <b>room</b>")
    assert page._notice.text() == "no <b>room</b>"
    assert all(one.textFormat() == Qt.TextFormat.PlainText for one in page._notice.findChildren(QLabel) if one.text())
    assert page._notice.isVisible()


def test_the_model_that_is_looked_at_stays_so_when_the_list_changes(page, library, service):
    page.select("pear")
    library.refresh()
    service.answer((model_info(id="aaa", family="sdxl"), *MODELS), "models")
    assert page.current() == page.details._id == "pear"


def test_a_model_that_was_fetched_is_looked_at_once_it_is_listed(page, library, service):
    library.get(GetRequest(source="owner/new"))
    service.answer(model_info(id="new", family="sdxl"), "get")
    assert page.current() == "apple"
    service.answer((*MODELS, model_info(id="new", family="sdxl")), "models")
    assert page.current() == page.details._id == "new"
