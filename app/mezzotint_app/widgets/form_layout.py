"""The layout of pages with a form: the form scrolls on the left above a foot, the result is on the right."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSplitter, QTabWidget, QVBoxLayout, QWidget

_RESULT_WIDTH = 900  # pixels at first


def scrolled(inside: QWidget) -> QScrollArea:
    """A widget that scrolls vertically; the keyboard moves through its contents."""
    area = QScrollArea()
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area


def form_side(form: QScrollArea, foot: QWidget, *, narrowest: int, head: QWidget | None = None) -> QWidget:
    """The left side: an optional head, the form, and a foot below a line."""
    line = QFrame()
    line.setProperty("role", "bar")
    line.setFixedHeight(1)
    left = QWidget()
    layout = QVBoxLayout(left)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    if head is not None:
        layout.addWidget(head)
    layout.addWidget(form, 1)
    layout.addWidget(line)
    layout.addWidget(foot)
    left.setMinimumWidth(narrowest)
    return left


def beside(page: QWidget, left: QWidget, right: QWidget, *, width: int, name: str) -> QSplitter:
    """Fill a page with both sides; the splitter's state is stored under its name."""
    splitter = QSplitter(Qt.Orientation.Horizontal)
    splitter.addWidget(left)
    splitter.addWidget(right)
    splitter.setStretchFactor(1, 1)
    splitter.setChildrenCollapsible(False)
    splitter.setSizes([width, _RESULT_WIDTH])
    splitter.setObjectName(name)
    whole = QVBoxLayout(page)
    whole.setContentsMargins(0, 0, 0, 0)
    whole.addWidget(splitter)
    return splitter


def tabbed(tabs: QTabWidget, name: str) -> QWidget:
    """Tabs as a right side, with their accessible name."""
    tabs.tabBar().setDrawBase(False)
    for part in (tabs, tabs.tabBar()):
        part.setAccessibleName(name)
    right = QWidget()
    column = QVBoxLayout(right)
    column.setContentsMargins(0, 8, 0, 0)
    column.addWidget(tabs)
    return right
