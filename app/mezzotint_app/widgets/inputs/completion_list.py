"""The list of completions below the cursor; the focus stays in the prompt, whose keys move in it."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from mezzotint.library_protocol import Completion

_ROWS, _WIDTH = 8, 320


class CompletionList(QListWidget):
    """A window of its own without a frame, so that it may be larger than the form."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.ToolTip)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAccessibleName(self.tr("Completions"))
        self.setToolTip(self.tr("Up and Down to move, Tab or Enter to insert, Escape to close"))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.itemClicked.connect(lambda item: self.chosen.emit(self.row(item)))
        self.hide()

    def show_found(self, found: Sequence[Completion], at: QPoint, *, chosen: int = -1) -> None:
        """Show these at a place on the screen, one of them chosen; hide if there are none."""
        self.clear()
        self.setVisible(bool(found))
        if not found:
            return
        for one in found:
            self.addItem(self._item(one))
        self.setCurrentRow(chosen)
        height = self.sizeHintForRow(0) * min(len(found), _ROWS) + 2 * self.frameWidth() + 2
        self.resize(QSize(_WIDTH, height))
        screen = self.screen().availableGeometry()
        left = max(screen.left(), min(at.x(), screen.right() - _WIDTH))
        self.move(left, at.y() if at.y() + height < screen.bottom() else max(screen.top(), at.y() - height - 24))

    def move_by(self, step: int) -> None:
        """Move the current row, around the ends."""
        first = 0 if step > 0 else self.count() - 1
        self.setCurrentRow((self.currentRow() + step) % self.count() if self.currentRow() >= 0 else first)

    def _item(self, one: Completion) -> QListWidgetItem:
        kinds = {
            "tag": "",
            "lora": self.tr("LoRA"),
            "embedding": self.tr("embedding"),
            "wildcard": self.tr("wildcard"),
            "style": self.tr("style"),
        }
        detail = ", ".join(filter(None, (kinds[one.kind], one.detail)))
        item = QListWidgetItem(f"{one.text}   ({detail})" if detail else one.text)
        item.setToolTip("")
        return item
