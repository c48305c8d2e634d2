"""The menu that puts images on boards, and the question for their tags."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMenu, QWidget

from mezzotint.library_protocol import GalleryItem
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.gallery.boards import GalleryBoards, common_tags
from mezzotint_app.windows.gallery.name_dialog import ask_name


class BoardsMenu(QMenu):
    """Boards with a tick at those that all of the images are on."""

    def __init__(self, boards: GalleryBoards, items: Sequence[GalleryItem], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(self.tr("Boards"))
        for name in boards.plain():
            action = self.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(all(name in item.boards for item in items))
            action.toggled.connect(lambda on, name=name: boards.put(items, name, on=on))
        self.addSeparator()
        new = self.addAction(icon("add"), self.tr("New board…"))
        title, label = self.tr("New board"), self.tr("Name")
        new.triggered.connect(lambda: ask_name(parent, title, label, lambda name: boards.put(items, name)))


def ask_tags(boards: GalleryBoards, items: Sequence[GalleryItem], parent: QWidget) -> None:
    """Ask for the tags of images; tags that only some of them have stay there."""
    before = common_tags(items)
    ask_name(
        parent,
        QCoreApplication.translate("BoardsMenu", "Tags"),
        QCoreApplication.translate("BoardsMenu", "Tags, separated by commas"),
        lambda text: boards.tag(items, before, text),
        ", ".join(before),
        boards.tags(),
        may_be_empty=True,
    )
