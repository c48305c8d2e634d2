"""Five stars to be set with the mouse, with Tab and Space, or with keys of the surrounding window."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.widgets.icon_button import icon_button

_MOST = 5


class StarRow(QWidget):
    """Shows a rating; clicking a star sets it, clicking the current rating clears it."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stars = 0
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._buttons = []
        for number in range(1, _MOST + 1):
            button = icon_button("star", self.tr("%n stars (key: the digit; 0: none)", "", number))
            button.clicked.connect(lambda _on, number=number: self._choose(number))
            layout.addWidget(button)
            self._buttons.append(button)
        layout.addStretch()

    def show_stars(self, stars: int | None) -> None:
        """Show a rating; None if it is unknown, which hides the stars."""
        self._stars = stars or 0
        self.setVisible(stars is not None)
        self.setAccessibleName(self.tr("Rating: %n stars", "", self._stars))
        for number, button in enumerate(self._buttons, 1):
            button.setIcon(icon_in("star-filled", "accent") if number <= self._stars else icon("star"))

    def _choose(self, number: int) -> None:
        self.chosen.emit(0 if number == self._stars else number)
