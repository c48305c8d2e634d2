"""Actions on finished images that several pages offer."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from mezzotint.library_protocol import Rating
from mezzotint_app.program import Program
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.gallery.gallery import STARS
from mezzotint_app.windows.gallery.name_dialog import ask_name
from mezzotint_app.windows.gallery.upscale_dialog import ask_upscale


class ImageActions(QObject):
    """Works on paths, wherever they are shown."""

    message = Signal(str)

    def __init__(self, program: Program, window: QWidget) -> None:
        super().__init__(window)
        self._program, self._window = program, window
        program.again.message.connect(self.message)
        program.gallery.upscaling.saved.connect(self._saved)

    def choose_model(self, paths: Sequence[str], at: QPoint | None = None) -> None:
        """Ask for a model, and make the images again with it and their own seeds."""
        self._models_menu(paths).popup(at or QCursor.pos())

    def add_to(self, menu: QMenu, path: str) -> None:
        """Add the actions to the menu of an image."""
        program = self._program
        actions = program.gallery.actions
        menu.addSeparator()
        menu.addAction(icon("create"), self.tr("Remix"), lambda: program.again.remix(path))
        menu.addAction(icon("layers"), self.tr("Variations"), lambda: program.again.vary([path]))
        models = menu.addMenu(icon("models"), self.tr("Same seed, other model"))
        self._fill(models, [path])
        result = next((one for one in program.create.preview.results() if one.path == path), None)
        if result is not None:
            upscaling = program.gallery.upscaling
            menu.addAction(icon("upscale"), self.tr("Upscale"), lambda: ask_upscale(upscaling, [result], self._window))
        menu.addSeparator()
        self._fill_boards(menu.addMenu(icon("board"), self.tr("Put on a board")), path)
        menu.addAction(icon("copy"), self.tr("Copy image"), lambda: actions.copy_pixels_of(path))
        menu.addAction(icon("folder"), self.tr("Show in folder"), lambda: program.gallery.reveal.show(path))
        stars = menu.addMenu(icon("star"), self.tr("Stars"))
        for number in range(STARS, -1, -1):
            text = self.tr("%n stars", "", number) if number else self.tr("No stars")
            stars.addAction(text, lambda number=number: self._rate(path, number))  # type: ignore[misc]
        menu.addAction(icon("trash"), self.tr("Move to trash"), lambda: program.gallery.trash.move([path]))

    def _saved(self, path: str) -> None:
        self.message.emit(self.tr("Saved: {name}").format(name=Path(path).name))

    def _models_menu(self, paths: Sequence[str]) -> QMenu:
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(self.tr("Same seed, other model"))
        self._fill(menu, paths)
        return menu

    def _fill(self, menu: QMenu, paths: Sequence[str]) -> None:
        known = [self._program.gallery.model.find(path) for path in paths]
        own = {item.model for item in known if item is not None}
        for info in self._program.again.models():
            if own == {info.id}:
                continue
            menu.addAction(info.id, lambda info=info: self._program.again.with_model(paths, info))  # type: ignore[misc]
        menu.setEnabled(not menu.isEmpty())

    def _fill_boards(self, menu: QMenu, path: str) -> None:
        boards = self._program.gallery.boards
        for name in boards.plain():
            menu.addAction(name.replace("&", "&&"), lambda name=name: boards.put_paths([path], name))  # type: ignore[misc]
        title, label = self.tr("New board"), self.tr("Name")
        new = menu.addAction(icon("add"), self.tr("New board…"))
        new.triggered.connect(lambda: ask_name(self._window, title, label, lambda name: boards.put_paths([path], name)))

    def _rate(self, path: str, stars: int) -> None:
        self._program.librarian.ask(
            "gallery.rate",
            Rating(paths=(path,), rating=stars),
            then=lambda _none: self._program.gallery.model.refresh(),
            failed=lambda failure: self.message.emit(failure.message),
        )
