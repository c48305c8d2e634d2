"""Wildcards are edited with what would be drawn, and nothing unsaved is lost unasked."""

import pytest
from PySide6.QtWidgets import QApplication

from mezzotint.batch_protocol import DrawRequest, SaveWildcard, WildcardFolder
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.wildcard_editor import WildcardEditor
from mezzotint_app.widgets.confirm import Question
from mezzotint_app.windows.create.wildcards_dialog import WildcardsDialog


@pytest.fixture
def settings(tmp_path, inline):
    return Stored(tmp_path / "settings.json", Settings(wildcard_folder="/wild"), inline)


@pytest.fixture
def dialog(qtbot, service, settings):
    made = WildcardsDialog(WildcardEditor(service, settings))
    qtbot.addWidget(made)
    made.show()
    assert service.last("wildcards").params == WildcardFolder(folder="/wild")
    service.answer(("animal", "colour"), "wildcards")
    service.answer("cat\ndog\n", "wildcard_text")
    return made


def names(dialog):
    return [dialog.list.item(row).text() for row in range(dialog.list.count())]


def drawn(qtbot, service, *examples):
    qtbot.waitUntil(lambda: bool(service.open("draw")))
    service.answer(examples, "draw")
    return service.last("draw").params


def test_the_first_is_shown_with_what_would_be_drawn(qtbot, dialog, service):
    assert names(dialog) == ["animal", "colour"] and dialog.text.toPlainText() == "cat\ndog\n"
    request = drawn(qtbot, service, "cat", "dog", "cat")
    assert request == DrawRequest(prompt="__animal__", wildcards="/wild", seeds=tuple(range(1, 9)))
    assert dialog.examples.text() == "Drawn, for example:\ncat\ndog"
    with qtbot.waitSignal(dialog.insert_asked) as asked:
        dialog.insert.click()
    assert asked.args == ["__animal__"] and not dialog.save.isEnabled()


def test_changes_are_drawn_kept_and_saved(qtbot, dialog, service):
    drawn(qtbot, service, "cat")
    dialog.text.setPlainText("fox")
    assert names(dialog)[0] == "animal •"
    assert drawn(qtbot, service, "fox").given == {"animal": "fox"} and "fox" in dialog.examples.text()
    dialog.list.setCurrentRow(1)
    assert not dialog.text.isEnabled()
    service.fail(message="no <i>readable</i> file", method="wildcard_text")
    assert dialog.problem.text() == "no <i>readable</i> file"
    dialog.list.setCurrentRow(0)
    assert dialog.text.toPlainText() == "fox"
    dialog.save.click()
    assert service.last("save_wildcard").params == SaveWildcard(
        folder="/wild", name="animal", text="fox", replaces=True
    )
    service.answer(None, "save_wildcard")
    assert names(dialog)[0] == "animal" and not dialog.save.isEnabled()
    dialog.reject()
    assert not dialog.isVisible()


def test_a_new_one_is_named_written_and_may_not_replace_another(dialog, service):
    naming = dialog.ask_name()
    naming.textValueSelected.emit(" __fish__ ")
    naming.close()
    assert names(dialog) == ["animal", "colour", "fish •"] and dialog.text.isEnabled()
    dialog.text.setPlainText("a carp")
    dialog.save.click()
    assert not service.last("save_wildcard").params.replaces
    service.fail(message="there is already a wildcard", method="save_wildcard")
    assert "already" in dialog.problem.text() and names(dialog)[2] == "fish •"
    dialog._model.add("animal")
    assert dialog._model.name() == "animal" and not dialog._model.is_unsaved("animal")


def test_a_name_that_no_prompt_could_have_is_refused_at_once(dialog):
    for name in ("../fish", "a b", ""):
        dialog._model.add(name)
        assert names(dialog) == ["animal", "colour"] and "is not a name" in dialog.problem.text()


def test_nothing_is_drawn_of_an_empty_text(qtbot, dialog, service):
    drawn(qtbot, service, "cat")
    assert "cat" in dialog.examples.text()
    dialog._model.edit("")
    qtbot.waitUntil(lambda: not dialog.examples.text())
    assert not service.open("draw")


def test_closing_asks_about_unsaved_changes(dialog, settings):
    dialog.text.setPlainText("fox")
    dialog.reject()
    question = next(one for one in QApplication.topLevelWidgets() if isinstance(one, Question) and one.isVisible())
    assert dialog.isVisible()
    question._agree.click()
    assert not dialog.isVisible() and not dialog._model.is_unsaved()


def test_another_folder_begins_anew(dialog, service, settings):
    dialog._model._examples = ("cat",)
    dialog._model.set_folder("/other")
    assert not dialog.examples.text()
    assert names(dialog) == [] and not dialog.text.isEnabled()
    assert service.last("wildcards").params == WildcardFolder(folder="/other")
    settings.change(wildcard_folder="")
    assert not dialog.new.isEnabled()
    assert dialog.examples.text() == "Choose a folder for wildcards first; it may be empty."
