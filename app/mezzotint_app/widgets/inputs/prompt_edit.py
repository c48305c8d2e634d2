"""The prompt editor: plain text with undo, and weights and history by keyboard."""

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from mezzotint_app import theme
from mezzotint_app.viewmodel.create.prompting.completion import PromptCompletion
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST
from mezzotint_app.viewmodel.create.prompting.weights import FINE_STEP, STEP, WeightEdit, changed_weight
from mezzotint_app.viewmodel.models.cards import LORA_FORMAT, dragged_lora
from mezzotint_app.widgets.inputs.completion_list import CompletionList
from mezzotint_app.widgets.inputs.prompt_marks import PromptMarks
from mezzotint_app.widgets.inputs.text_places import TextPlaces

_AROUND = 22  # pixels of frame and margins
_LONG = 8_000  # characters above which a very long word takes long to wrap
_ENDLESS = 2_000  # characters of such a word


class PromptEdit(QPlainTextEdit):
    """Emits `edited` for every change by the user, and other signals for keys that do more than edit."""

    edited = Signal(str)
    refused = Signal(int)  # number of characters that a paste would have led to
    generate_wanted = Signal(bool)  # whether at the front of the queue
    older_wanted = Signal()
    newer_wanted = Signal()
    lora_dropped = Signal(str, tuple, object)  # path, trigger words, and weight or None
    weights_unread = Signal()  # a weight was to be changed although the model ignores weights

    def __init__(
        self,
        name: str,
        tip: str,
        *,
        lines: int,
        completion: PromptCompletion | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._shown = ""
        self._completion = completion
        self.offered = CompletionList(self)
        self._weighs = True
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.setTabChangesFocus(True)
        self._lines = lines
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._resized)
        self._marks = PromptMarks(self.document())
        self.textChanged.connect(self._changed)
        theme.changes().changed.connect(self._marks.rehighlight)
        self.offered.chosen.connect(self._complete)
        if completion is not None:
            completion.changed.connect(self._offer)
            self.cursorPositionChanged.connect(self._moved)
            self.selectionChanged.connect(self._moved)

    def text(self) -> str:
        """The text as it was written, with non-breaking spaces preserved."""
        return self.document().toRawText().replace("\u2029", "\n").replace("\u2028", "\n")

    def show_text(self, text: str) -> None:
        """Show a text from elsewhere; undoable, and without emitting `edited`."""
        if text in (self._shown, self.text()):
            self._shown = text
            return
        self._shown = text
        self._choose_wrapping(text)
        self.blockSignals(True)
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.setTextCursor(cursor)
        self.blockSignals(False)

    def sizeHint(self) -> QSize:  # noqa: N802
        """As many lines as the text has, between a minimum and three times that."""
        written = int(self.document().size().height())  # for plain text, in lines
        lines = min(max(written, self._lines), 3 * self._lines)
        return QSize(200, self.fontMetrics().lineSpacing() * lines + _AROUND)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The same height, as the page scrolls."""
        return QSize(80, self.sizeHint().height())

    def set_weighs(self, weighs: bool) -> None:
        """Set whether the model uses weights."""
        self._weighs = weighs

    # ---- keyboard

    def event(self, event: QEvent) -> bool:
        """Leave pasting of anything but text, such as an image, to the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            held = QGuiApplication.clipboard().mimeData()
            pasted = event.matches(QKeySequence.StandardKey.Paste) and held is not None  # None: an empty clipboard
            if pasted and not self.canInsertFromMimeData(held):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Handle the keys for weights, history and Generate."""
        if not self._chooses(event) and not self._handled(event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:  # noqa: N802  Qt's name; Tab does not arrive as a key
        """Tab inserts the chosen or first completion instead of leaving, if any are offered."""
        if forward and self.offered.isVisible():
            self._complete(max(0, self.offered.currentRow()))
            return True
        return super().focusNextPrevChild(forward)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Offer nothing while another control has the focus."""
        if self._completion is not None:
            self._completion.dismiss()
        super().focusOutEvent(event)

    def _chooses(self, event: QKeyEvent) -> bool:
        """Handle the keys of the list of completions, if it is open."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if not self.offered.isVisible() or held != Qt.KeyboardModifier.NoModifier or self._completion is None:
            return False
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self.offered.move_by(1 if event.key() == Qt.Key.Key_Down else -1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.offered.currentRow() >= 0:
                self._complete(self.offered.currentRow())
            case Qt.Key.Key_Escape:
                self._completion.dismiss()
            case _:
                return False
        return True

    def _handled(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
        vertical = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if vertical and held & control and not held & ~(control | shift):
            self.change_weight(vertical * (FINE_STEP if held & shift else STEP))
            return True
        if vertical and held == Qt.KeyboardModifier.AltModifier:
            (self.older_wanted if vertical > 0 else self.newer_wanted).emit()
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and held & control:
            self.generate_wanted.emit(bool(held & shift))
            return True
        return False

    def change_weight(self, step: float) -> None:
        """Change the weight of the selection, or of the word at the cursor, by `step`."""
        if not self._weighs:
            self.weights_unread.emit()
            return
        cursor = self.textCursor()
        text = self.text()
        places = TextPlaces(text)
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        edit = changed_weight(text, places.index(start), places.index(end), step)
        if edit is not None:
            self._apply(edit, places)

    def _apply(self, edit: WeightEdit, places: TextPlaces) -> None:
        cursor = self.textCursor()
        cursor.setPosition(places.position(edit.start))
        cursor.setPosition(places.position(edit.end), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(edit.text)
        after = TextPlaces(self.text())
        cursor.setPosition(after.position(edit.select_start))
        cursor.setPosition(after.position(edit.select_end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    # ---- completion

    def _moved(self) -> None:
        """Complete only what is typed here: not while something is selected or the text comes from elsewhere."""
        if self._completion is None:
            return
        cursor, text = self.textCursor(), self.text()
        if self.hasFocus() and not cursor.hasSelection():
            self._completion.type(text, TextPlaces(text).index(cursor.position()))
        else:
            self._completion.dismiss()

    def _offer(self) -> None:
        if self._completion is not None:
            found = self._completion.found() if self.hasFocus() else ()
            corner = self.cursorRect().bottomLeft()
            at = self.viewport().mapToGlobal(corner)
            self.offered.show_found(found, at, chosen=0 if self._completion.is_named() else -1)

    def _complete(self, number: int) -> None:
        text, places = self.text(), TextPlaces(self.text())
        edit = None if self._completion is None else self._completion.choose(number, text)
        if edit is None:
            return
        cursor = self.textCursor()
        cursor.setPosition(places.position(edit.start))
        cursor.setPosition(places.position(edit.end), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(edit.text)
        self.setTextCursor(cursor)

    # ---- text

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802
        """Paste as plain text, unless the prompt would become too long."""
        lora = dragged_lora(source)
        if lora is not None:
            self.lora_dropped.emit(*lora)
            return
        text = source.text()
        chosen = len(self.textCursor().selectedText())
        length = len(self.text()) - chosen + len(text)
        if length > LONGEST:
            self.refused.emit(length)
        elif text:
            self._choose_wrapping(text)
            self.textCursor().insertText(text)
            self.ensureCursorVisible()

    def canInsertFromMimeData(self, source: QMimeData | None) -> bool:  # noqa: N802
        """Accept text and LoRAs; images and files are for the page. `source` is None if the clipboard is empty."""
        if source is None:
            return False
        return source.hasFormat(LORA_FORMAT) or (source.hasText() and not source.hasUrls())

    def _resized(self) -> None:
        if self.height() != self.sizeHint().height():
            self.updateGeometry()

    def _choose_wrapping(self, text: str) -> None:
        """Wrap very long words anywhere: that takes a tenth of the time, and they have no better break."""
        mode = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        if len(text) > _LONG and max(map(len, text.split()), default=0) > _ENDLESS:
            mode = QTextOption.WrapMode.WrapAnywhere
        if mode != self.wordWrapMode():
            self.setWordWrapMode(mode)

    def _changed(self) -> None:
        text = self.text()
        if len(text) > _LONG:
            self._choose_wrapping(text)
        if text != self._shown:
            self._shown = text
            self.edited.emit(text)
