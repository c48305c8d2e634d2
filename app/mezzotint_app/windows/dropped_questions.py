"""Questions about dropped files, one at a time: add a model, add a LoRA, run a batch."""

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from mezzotint.library_protocol import Dropped
from mezzotint_app.viewmodel.dropped.described_request import file_name
from mezzotint_app.viewmodel.dropped.dropped import DropHandler
from mezzotint_app.viewmodel.dropped.folder_of_images import Images
from mezzotint_app.viewmodel.foreign_text import in_lines
from mezzotint_app.viewmodel.queue.texts import images_count

_FEW = 12  # a folder with at most this many images becomes a queue entry, a larger one a batch
_MOST = 20  # waiting questions; further ones replace the oldest


class DroppedQuestions(QObject):
    """Asks before anything that a DropHandler proposes is done."""

    model_accepted = Signal(str)  # the path of a model, or of a folder of models
    lora_accepted = Signal(str)
    batch_accepted = Signal(object)  # Images
    folder_accepted = Signal(object)  # Images, for the Batch page

    def __init__(self, handler: DropHandler, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._waiting: deque[Callable[[], QMessageBox]] = deque(maxlen=_MOST)
        self._open: QMessageBox | None = None
        handler.add_model.connect(self.ask_model)
        handler.add_lora.connect(self.ask_lora)
        handler.batch.connect(self.ask_batch)

    def open_question(self) -> QMessageBox | None:
        """The open question, or None."""
        return self._open

    def ask_model(self, dropped: Dropped) -> None:
        """Ask whether to add a model or a folder of models."""
        is_file = dropped.kind == "model"
        words = self.tr("Add this model?") if is_file else self.tr("Add this model folder?")
        more = self.tr("It stays where it is; nothing is copied.")
        self._put(
            self.tr("Models"), words, _what(dropped) + "\n" + more, self.tr("Add"), self.model_accepted, dropped.path
        )

    def ask_lora(self, dropped: Dropped) -> None:
        """Ask whether to add a LoRA to the current settings."""
        self._put(
            self.tr("LoRAs"),
            self.tr("Add this LoRA to the current settings?"),
            _what(dropped),
            self.tr("Add"),
            self.lora_accepted,
            dropped.path,
        )

    def ask_batch(self, images: Images) -> None:
        """Ask whether to run image to image on these images; large folders go to the Batch page instead."""
        if images.folder and len(images.paths) > _FEW:
            self._ask_folder(images)
            return
        count = len(images.paths)
        words = self.tr("Run image to image on {images} with the current settings?").format(images=images_count(count))
        more = self.tr(
            "They are added as one job, in which each is used once as the init image. The originals are kept."
        )
        if not images.complete:
            more += "\n" + self.tr("There are more images than that; only the first %n are used.", "", count)
        name = in_lines(file_name(images.folder), 120)
        self._put(
            self.tr("Batch"),
            words,
            "\n".join(part for part in (name, more) if part),
            self.tr("Add to queue"),
            self.batch_accepted,
            images,
        )

    def _ask_folder(self, images: Images) -> None:
        count = len(images.paths)
        asked = (
            self.tr("Create a batch from this folder with {images}?")
            if images.complete
            else self.tr("Create a batch from this folder with more than {images}?")
        )
        words = asked.format(images=images_count(count))
        more = self.tr("The Batch page opens: check the preview there before you start. The originals are kept.")
        name = in_lines(file_name(images.folder), 120)
        yes = self.tr("Open Batch page")
        self._put(self.tr("Batch"), words, f"{name}\n{more}", yes, self.folder_accepted, images)

    def _put(self, title: str, words: str, more: str, yes: str, accepted: object, value: object) -> None:
        self._waiting.append(lambda: self._box(title, words, more, yes, accepted, value))
        if self._open is None:
            self._next()

    def _box(self, title: str, words: str, more: str, yes: str, accepted: object, value: object) -> QMessageBox:
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(title)
        box.setText(words)
        box.setInformativeText(more)
        button = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
        button.setProperty("role", "primary")
        box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(button)

        def answered() -> None:
            said_yes = box.clickedButton() is button
            self._open = None
            if said_yes:
                accepted.emit(value)  # type: ignore[attr-defined]
            self._next()

        box.finished.connect(lambda _result: answered())
        return box

    def _next(self) -> None:
        if self._waiting and self._open is None:
            self._open = self._waiting.popleft()()
            self._open.open()


def _what(dropped: Dropped) -> str:
    return in_lines(file_name(dropped.path), 120) + "\n" + in_lines(dropped.detail, 300)
