"""The styles in use on the Create page."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from mezzotint.library_protocol import Style
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.elided_button import ElidedButton
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.icon_button import text_button


class StyleBar(QWidget):
    """A button for each style, which removes it, and one that opens the list."""

    asked = Signal()

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._styles = model.styles
        self._shown: tuple[Style, ...] = ()
        self._chips: list[QPushButton] = []
        tip = self.tr("Choose styles, which surround the prompt with their texts; save, import and remove them")
        self.open_button = text_button("layers", self.tr("Styles…"), tip, role="quiet")
        self.open_button.clicked.connect(self.asked)
        self._flow = FlowLayout(spacing=4)
        self._flow.addWidget(self.open_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._flow)
        self.show_model()

    def chips(self) -> tuple[QPushButton, ...]:
        """The buttons of the styles in use."""
        return tuple(self._chips)

    def show_model(self) -> None:
        """Show the styles in use."""
        if self._styles.in_use() == self._shown:
            return
        self._shown = self._styles.in_use()
        for chip in self._chips:
            self._flow.removeWidget(chip)
            chip.deleteLater()
        self._chips = [self._chip(style) for style in self._shown]
        for chip in self._chips:
            self._flow.addWidget(chip)
        self.updateGeometry()

    def _chip(self, style: Style) -> QPushButton:
        chip = ElidedButton()
        chip.setIcon(icon("cancel"))
        chip.setText(style.name.replace("&", "&&"))
        chip.setAccessibleName(self.tr("Remove style {name}").format(name=style.name))
        words = "\n".join(filter(None, (style.prompt, style.negative)))
        chip.setToolTip(plain_tooltip(f"{chip.accessibleName()}\n{words}".strip()))
        chip.clicked.connect(lambda: self._remove(style.name))
        return chip

    def _remove(self, name: str) -> None:
        self.open_button.setFocus()
        self._styles.stop_using(name)
