"""The button that offers to make images faster."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.faster import Faster
from mezzotint_app.viewmodel.foreign_text import in_one_line
from mezzotint_app.widgets.button_menu import show_menu

_SIDE = 30  # pixels


class FasterButton(QToolButton):
    """A menu of the advice for the current plan; hidden without any."""

    def __init__(self, model: Faster) -> None:
        super().__init__()
        self._model = model
        self.setProperty("role", "quiet")
        self.setIcon(icon("fast"))
        self.setIconSize(QSize(20, 20))
        self.setFixedSize(_SIDE, _SIDE)
        self.setAccessibleName(self.tr("Make it faster"))
        self.setToolTip(self.tr("Make it faster: what would save time, and what it costs"))
        self._menu = QMenu(self)
        self.clicked.connect(self._open)
        model.changed.connect(self.show_model)
        self.show_model()

    def show_model(self) -> None:
        """Show the button if there is something to apply or to undo."""
        self.setVisible(bool(self._model.advice()) or self._model.can_undo())

    def actions_of_menu(self) -> list[QAction]:
        """Return the actions: one for each advice, and one that undoes the last."""
        self._menu.clear()
        for advice in self._model.advice():
            action = self._menu.addAction(icon("fast"), in_one_line(self._model.words(advice), 200))
            action.triggered.connect(lambda _on=False, chosen=advice: self._model.apply(chosen))
        if self._model.can_undo():
            action = self._menu.addAction(icon("undo"), self.tr("Undo the last one"))
            action.triggered.connect(lambda _on=False: self._model.undo())
        return self._menu.actions()

    def _open(self) -> None:
        self.actions_of_menu()
        show_menu(self._menu, self, above=True)
