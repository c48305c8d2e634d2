"""The actions on images of the grid: texts, icons, shortcuts, and their menu."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.gallery.comparison import MOST
from mezzotint_app.viewmodel.gallery.gallery import STARS

# Name, icon and shortcut of each.
_TABLE = (
    ("open", "full-screen", ""),
    ("settings", "reuse", "Ctrl+U"),
    ("remix", "create", "R"),
    ("variations", "layers", "V"),
    ("other_model", "models", "M"),
    ("as_input", "image", "Ctrl+E"),
    ("edit", "edit", "Ctrl+Shift+E"),
    ("as_style", "layers", ""),
    ("in_canvas", "canvas", "Ctrl+K"),
    ("upscale", "upscale", "Ctrl+Shift+U"),
    ("cut_out", "crop", "Ctrl+Shift+B"),
    ("compare", "compare", "C"),
    ("similar", "search", "S"),
    ("boards", "board", "B"),
    ("tags", "tag", "T"),
    ("copy_image", "copy", "Ctrl+C"),
    ("copy_settings", "copy", "Ctrl+Shift+C"),
    ("copy_prompt", "copy", ""),
    ("copy_command", "command", ""),
    ("reveal", "folder", "Ctrl+O"),
    ("trash", "trash", "Delete"),
    ("star", "star", "."),
)
_OF_SELECTED = (
    "trash",
    "star",
    "variations",
    "other_model",
    "upscale",
    "cut_out",
    "boards",
    "tags",
)  # others: of the current
PANEL = ("settings", "variations", "as_input", "upscale", "open", "copy_image", "reveal", "trash")
_MENU = (
    ("open", "settings", "remix", "variations", "other_model"),
    ("as_input", "edit", "in_canvas", "upscale", "cut_out", "as_style"),
    ("compare", "similar", "boards", "tags"),
    ("copy_image", "copy_settings", "copy_prompt", "copy_command"),
)


class PageActions(QObject):
    """Works while the grid has the focus."""

    def __init__(self, grid: QWidget, do: Mapping[str, Callable[[], object]], rate: Callable[[int], object]) -> None:
        super().__init__(grid)
        self._grid = grid
        texts = self._texts()
        self._all = {name: self._action(drawing, texts[name], key, do[name]) for name, drawing, key in _TABLE}
        self.ratings = [self._rating(stars, rate) for stars in range(STARS + 1)]

    def __getitem__(self, name: str) -> QAction:
        return self._all[name]

    def enable(self, selected: int, *, current: bool, prompt: bool) -> None:
        """Enable what applies to so many selected images, and to the current one."""
        for name, action in self._all.items():
            action.setEnabled(selected > 0 if name in _OF_SELECTED else current)
        for action in self.ratings:
            action.setEnabled(selected > 0)
        self["compare"].setEnabled(2 <= selected <= MOST)
        self["copy_prompt"].setEnabled(prompt)

    def menu(self, parent: QWidget) -> QMenu:
        """A menu of all."""
        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for group in _MENU:
            menu.addActions([self._all[name] for name in group])
            menu.addSeparator()
        stars = menu.addMenu(icon("star"), self.tr("Stars"))
        stars.addActions([*reversed(self.ratings), self._all["star"]])
        menu.addSeparator()
        menu.addActions([self._all["reveal"], self._all["trash"]])
        return menu

    def _texts(self) -> dict[str, str]:
        return {
            "open": self.tr("Full screen"),
            "settings": self.tr("Load settings"),
            "remix": self.tr("Remix"),
            "variations": self.tr("Variations"),
            "other_model": self.tr("Same seed, other model…"),
            "as_input": self.tr("Use as init image"),
            "edit": self.tr("Edit this image"),
            "as_style": self.tr("Save as style…"),
            "in_canvas": self.tr("Open in canvas"),
            "upscale": self.tr("Upscale"),
            "cut_out": self.tr("Remove background"),
            "compare": self.tr("Compare"),
            "similar": self.tr("Sort by similarity"),
            "boards": self.tr("Boards…"),
            "tags": self.tr("Tags…"),
            "copy_image": self.tr("Copy image"),
            "copy_settings": self.tr("Copy settings"),
            "copy_prompt": self.tr("Copy prompt"),
            "copy_command": self.tr("Copy as command"),
            "reveal": self.tr("Show in folder"),
            "trash": self.tr("Move to trash"),
            "star": self.tr("Toggle star"),
        }

    def _action(self, drawing: str, text: str, key: str, do: Callable[[], object]) -> QAction:
        action = QAction(icon(drawing), text, self)
        if key:
            action.setShortcut(QKeySequence(key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{text} ({keys})")
        action.triggered.connect(lambda _checked=False: do())
        self._grid.addAction(action)
        return action

    def _rating(self, stars: int, rate: Callable[[int], object]) -> QAction:
        text = self.tr("%n stars", "", stars) if stars else self.tr("No stars")
        return self._action("star", text, str(stars), lambda: rate(stars))
