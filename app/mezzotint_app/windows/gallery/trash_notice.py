"""The notice above the gallery after images were moved to the trash: how many, and Undo."""

from PySide6.QtGui import QHideEvent, QKeySequence
from PySide6.QtWidgets import QPushButton

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.queue.texts import images_count
from mezzotint_app.widgets.notice_bar import NoticeBar


class TrashNotice(NoticeBar):
    """Hidden while there is nothing to undo, and after the page was left."""

    def __init__(self, trash: GalleryTrash) -> None:
        super().__init__("trash", "text", closable=True)
        self._trash = trash
        self.undo = self.add_button(QPushButton(icon("undo"), self.tr("Undo")))
        keys = QKeySequence(QKeySequence.StandardKey.Undo).toString(QKeySequence.SequenceFormat.NativeText)
        self.undo.setToolTip(self.tr("Restore them from the trash ({keys})").format(keys=keys))
        self.undo.clicked.connect(trash.undo)
        trash.changed.connect(self._show)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802  Qt's name
        """Clear the notice when another page is opened, as it would only confuse later."""
        if not self.isHidden() and not event.spontaneous():
            self.show_text("")
        super().hideEvent(event)

    def _show(self) -> None:
        around = self.parentWidget()
        on_screen = around is None or around.isVisible()  # of the pages that have one, only the open one tells
        count = self._trash.undoable() if on_screen else 0
        self.show_text(self.tr("Moved to trash: {0}").format(images_count(count)) if count else "")
