"""Monochrome icons, drawn in the theme's colours."""

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from mezzotint import paths
from mezzotint_app import theme


def icon(name: str) -> QIcon:
    """The icon of assets/icons/NAME.svg, which follows the theme."""
    return QIcon(_Drawing(name, None))


def icon_in(name: str, colour: str) -> QIcon:
    """The icon in another theme colour, such as "accent_text" on a primary button."""
    return QIcon(_Drawing(name, colour))


def preload() -> None:
    """Read all icons before the window is shown, so that none has to be read later."""
    for name in names():
        _source(name)


def names() -> list[str]:
    """The names of all icons."""
    return sorted(path.stem for path in icons_folder().glob("*.svg"))


@cache
def icons_folder() -> Path:
    """The folder of the icons."""
    return paths.assets_folder() / "icons"


@cache
def _source(name: str) -> bytes:
    return (icons_folder() / f"{name}.svg").read_bytes()


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_source(name).replace(b"currentColor", colour.encode("ascii"))))


class _Drawing(QIconEngine):
    """Renders the drawing at each requested size, so that it is sharp on every screen."""

    def __init__(self, name: str, colour: str | None) -> None:
        super().__init__()
        self._name, self._colour = name, colour

    def clone(self) -> QIconEngine:
        return _Drawing(self._name, self._colour)

    def paint(self, painter: QPainter, rect: object, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        _renderer(self._name, self._in(mode)).render(painter, QRectF(rect))  # type: ignore[call-overload]

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        image = QPixmap(size)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        self.paint(painter, image.rect(), mode, state)
        painter.end()
        return image

    def _in(self, mode: QIcon.Mode) -> str:
        name = "control" if mode == QIcon.Mode.Disabled else self._colour
        if name is None:
            name = "accent_text" if mode == QIcon.Mode.Selected else "text"
        return theme.colour(name).name()
