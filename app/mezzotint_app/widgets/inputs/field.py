"""A control with a label, a reset button, a hint and an error message."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import plain_label

_BACK = QSize(26, 20)


class Field(QWidget):
    """The label above the control, beside it "model default" or a button that resets to it."""

    reset = Signal()

    def __init__(self, name: str, control: QWidget, *, resettable: bool = False) -> None:
        super().__init__()
        self._control = _first_control(control)
        self._name = plain_label(name)
        self._name.setBuddy(self._control)
        self._own = plain_label(self.tr("model default"), role="muted")
        self._back = icon_button("undo", self.tr("{name}: reset to model default").format(name=name))
        self._back.setIconSize(QSize(14, 14))
        self._back.setFixedSize(_BACK)
        self._back.clicked.connect(self._go_back)
        self._hint = plain_label(role="muted", wrap=True)
        self._problem = plain_label(role="error", wrap=True)
        self._name.setMinimumHeight(_BACK.height())  # avoids a layout shift when the button appears
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._name, 1)
        head.addWidget(self._own)
        head.addWidget(self._back)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(control)
        layout.addWidget(self._hint)
        layout.addWidget(self._problem)
        self._resettable = resettable
        self.set_is_default(True)
        self.set_hint("")
        self.set_problem("")

    def set_name(self, name: str) -> None:
        """Change the name above the control."""
        self._name.setText(name)
        self._back.setToolTip(self.tr("{name}: reset to model default").format(name=name))

    def name(self) -> str:
        """The name above the control."""
        return self._name.text()

    def set_is_default(self, own: bool) -> None:
        """Set whether the value is the model default."""
        self._own.setVisible(self._resettable and own)
        self._back.setVisible(self._resettable and not own)

    def set_hint(self, text: str) -> None:
        """Show a hint about the value."""
        self._hint.setText(text)
        self._hint.setVisible(bool(text))

    def hint(self) -> str:
        """The hint."""
        return self._hint.text()

    def set_problem(self, text: str) -> None:
        """Show what is wrong with the value; empty if nothing is."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        self._control.setAccessibleDescription(text)

    def problem(self) -> str:
        """The error message."""
        return self._problem.text()

    def focus_control(self) -> None:
        """Give the control the focus."""
        self._control.setFocus()

    def back_button(self) -> QWidget:
        """The button that resets to the model default."""
        return self._back

    def _go_back(self) -> None:
        self._control.setFocus()  # the button disappears, so keep the focus nearby
        self.reset.emit()


def _first_control(widget: QWidget) -> QWidget:
    """The first widget in the tab order."""
    inside = widget.findChildren(QWidget) if widget.focusPolicy() == Qt.FocusPolicy.NoFocus else []
    return next((one for one in inside if one.focusPolicy() & Qt.FocusPolicy.TabFocus), widget)
