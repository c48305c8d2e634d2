"""The button for advice is there when there is some, and its menu applies it."""

from PySide6.QtCore import QObject, Signal

from mezzotint_app.windows.create.faster import FasterButton


class Advised(QObject):
    changed = Signal()

    def __init__(self):
        super().__init__()
        self.applied = []

    def advice(self):
        return ("one", "two")[len(self.applied) :]

    def words(self, advice):
        return f"{advice}: <b>faster</b>"

    def apply(self, advice):
        self.applied.append(advice)
        self.changed.emit()

    def can_undo(self):
        return len(self.applied) == 1

    def undo(self):
        self.applied += ["undone", "undone"]
        self.changed.emit()


def test_a_menu_of_what_can_be_applied_and_undone(qtbot):
    button = FasterButton(Advised())
    qtbot.addWidget(button)
    button.show_model()
    assert not button.isHidden() and button.accessibleName() == "Make it faster"
    first, second = button.actions_of_menu()
    assert (first.text(), second.text()) == ("one: <b>faster</b>", "two: <b>faster</b>")
    first.trigger()
    second, undo = button.actions_of_menu()
    assert (second.text(), undo.text()) == ("two: <b>faster</b>", "Undo the last one")
    undo.trigger()
    assert button.isHidden() and button.actions_of_menu() == []
