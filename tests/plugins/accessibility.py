"""Accessibility checks of a window: screen readers, low vision, keyboard-only use.

Each check returns its findings as text, empty if there are none.
"""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QIcon, QImage, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QRadioButton,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QWidget,
)

LEAST_CONTRAST = 4.5  # WCAG 2 AA
_FIELDS = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QAbstractSlider, QPlainTextEdit)
_CLICKED = (*_FIELDS, QAbstractItemView, QTabBar)
_SHARPNESS = 3  # times as large as on the screen, so that thin strokes have their colour somewhere
_ELIDED = ("ElidedLabel", "ElidedButton", "SectionHeading")  # shorten their words themselves, and tell the whole


def controls(window):
    """Return all visible widgets that can be clicked or focused."""
    return [one for one in _seen(window) if _is_control(one)]


def _seen(window):
    return [one for one in window.findChildren(QWidget) if one.isVisibleTo(window) and one.window() is window]


def _is_control(widget):
    if isinstance(widget, QScrollBar | QMenu) or _is_inner(widget):
        return False
    return bool(isinstance(widget, _CLICKED) or widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def _is_inner(widget):
    """Whether the widget is an internal part of a control."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QComboBox | QAbstractSpinBox | QTabBar):
            return True
        if isinstance(parent, QAbstractItemView) and not isinstance(widget, _FIELDS):
            return True
        parent = parent.parentWidget()
    return isinstance(widget, QAbstractButton) and widget.objectName().startswith("qt_") and not widget.isEnabled()


def told(widget):
    """Describe the widget in a finding."""
    words = widget.text() if isinstance(widget, QLabel | QAbstractButton | QLineEdit) else ""
    name = widget.accessibleName() or widget.objectName()
    above = widget.parentWidget()
    return f"{type(widget).__name__} {words[:40] or name[:40]!r} in {type(above).__name__ if above else 'nothing'}"


# ---- names


def spoken_name(widget):
    """Return the accessible name."""
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


def unnamed(window):
    """Return controls without an accessible name, or with only a symbol."""
    return [
        f"{told(one)} is called {spoken_name(one)!r}"
        for one in controls(window)
        if not any(letter.isalnum() for letter in spoken_name(one))
    ]


def misnamed(window):
    """Return buttons whose accessible name lacks their text (WCAG 2.5.3: voice control finds them by what it says)."""
    return [
        f"{told(one)} shows {_words(one.text())!r}, but is called {spoken_name(one)!r}"
        for one in controls(window)
        if isinstance(one, QAbstractButton) and _words(one.text()) not in _words(spoken_name(one))
    ]


def _words(text):
    return text.replace("&", "").rstrip("…").strip().lower()


def untold(window):
    """Return controls without a tooltip; message boxes are exempt, as their text explains the buttons."""
    if isinstance(window, QMessageBox):
        return []
    return [
        f"{told(one)} has no tooltip"
        for one in controls(window)
        if isinstance(one, _FIELDS) and not one.toolTip() and not isinstance(one, QCheckBox | QRadioButton)
    ]


# ---- the keyboard


def reachable(window):
    """Return the widgets that Tab should reach."""
    return [
        one
        for one in _seen(window)
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and one.isEnabledTo(window)
        and one.focusProxy() is None
        and not isinstance(one, QScrollBar)
        and not _is_inner(one)
        and _shows(one)
    ]


def _shows(widget):
    """Whether the widget is displayed; scroll areas with nothing to scroll need no keyboard focus."""
    if type(widget) is QScrollArea:
        return widget.verticalScrollBar().maximum() > 0 or widget.horizontalScrollBar().maximum() > 0
    return widget.width() > 0 and widget.height() > 0


def trapped(window, *, back=False):
    """Return the widgets that Tab (or Shift+Tab) does not reach, and where it gets stuck."""
    wanted = reachable(window)
    if not wanted:
        return []
    key = Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab
    start = wanted[-1 if back else 0]
    start.setFocus(Qt.FocusReason.TabFocusReason)
    visited = [start]
    for _ in range(3 * len(_seen(window))):
        QTest.keyClick(
            QApplication.focusWidget() or window,
            key,
            Qt.KeyboardModifier.ShiftModifier if back else Qt.KeyboardModifier.NoModifier,
        )
        now = QApplication.focusWidget()
        if now is None:
            return [f"the keyboard is lost after {told(visited[-1])}"]
        if now is visited[-1]:
            return [f"the keyboard is caught in {told(now)}"]
        if now is start:
            break
        visited.append(now)
    else:
        return [f"Tab never comes back to {told(start)}"]
    reached = {id(one) for one in visited} | {id(one.focusProxy()) for one in visited if one.focusProxy()}
    return [
        f"{told(one)} is never reached" for one in wanted if id(one) not in reached and not _stands_for(one, visited)
    ]


def _stands_for(widget, visited):
    """Whether another widget of its group was reached; arrow keys reach the rest."""
    if isinstance(widget, QRadioButton):
        return any(isinstance(one, QRadioButton) and one.parentWidget() is widget.parentWidget() for one in visited)
    return any(one.parentWidget() is widget for one in visited if isinstance(widget, QComboBox | QAbstractSpinBox))


def unseen_focus(window):
    """Return controls whose keyboard focus is invisible."""
    faults = []
    for one in reachable(window):
        QApplication.focusWidget() and QApplication.focusWidget().clearFocus()
        before = one.grab().toImage()
        one.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        if one.grab().toImage() == before:
            faults.append(f"{told(one)} looks the same with the keyboard")
    return faults


# ---- eyes


def pale(window):
    """Return texts with too little contrast to their background."""
    faults = []
    for one in _seen(window):
        if not _has_words(one) or not one.isEnabledTo(window):
            continue
        found = painted_contrast(one)
        if found < LEAST_CONTRAST:
            faults.append(f"{told(one)}: {found:.2f}")
    return faults


def _has_words(widget):
    if widget.width() < 4 or widget.height() < 4:
        return False
    if isinstance(widget, QLabel | QAbstractButton):
        return bool(widget.text().strip())
    if isinstance(widget, QComboBox):
        return bool(widget.currentText())
    if isinstance(widget, QLineEdit):
        return bool(widget.text() or widget.placeholderText())
    if isinstance(widget, QPlainTextEdit):
        return bool(widget.toPlainText() or widget.placeholderText())
    return isinstance(widget, QAbstractSpinBox)


def painted_contrast(widget):
    """Contrast between the most frequent colour and the one farthest from it, ignoring icons."""
    icon = widget.icon() if isinstance(widget, QAbstractButton) else None
    if icon is not None:
        widget.setIcon(QIcon())
    try:
        image = painted(widget)
    finally:
        if icon is not None:
            widget.setIcon(icon)
    colours, counts = np.unique(np.frombuffer(image.constBits(), np.uint32), return_counts=True)
    lights = luminance(colours)
    return contrast(lights[counts >= _SHARPNESS], lights[counts.argmax()]).max()


def painted(widget):
    """Render the area of the widget's text, as displayed in its window, enlarged."""
    bring_into_sight(widget)
    window, where = widget.window(), _place_of_words(widget)
    image = QImage(where.size() * _SHARPNESS, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_SHARPNESS)
    image.fill(0)
    window.render(image, QPoint(0, 0), QRegion(where.translated(widget.mapTo(window, QPoint(0, 0)))))
    return image


def bring_into_sight(widget):
    """Scroll the widget into view, as focusing it would."""
    area = widget.parentWidget()
    while area is not None:
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(widget, 0, 0)
        area = area.parentWidget()


def _place_of_words(widget):
    """Return the text's area without frames, check marks and arrows."""
    where = widget.rect()
    if isinstance(widget, QLabel):
        return where
    if isinstance(widget, QCheckBox | QRadioButton):
        return where.adjusted(28, 2, 0, -2)
    if isinstance(widget, QComboBox | QAbstractSpinBox):
        return where.adjusted(4, 4, -30, -4)
    if isinstance(widget, QLineEdit) and widget.findChildren(QAbstractButton):
        return where.adjusted(30, 4, -30, -4)
    if isinstance(widget, QPlainTextEdit):
        where.setHeight(min(where.height(), 28))
        return where.adjusted(4, 4, -4, 0)
    return where.adjusted(4, 4, -4, -4)


def luminance(colours):
    """Relative luminance of colours 0xRRGGBB as defined by WCAG 2."""
    parts = (np.asarray(colours)[..., None] >> np.array([16, 8, 0]) & 255) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    """Contrast of two luminances."""
    return (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)


# ---- text


def markup(window, hostile):
    """Return widgets that render, or may render, foreign text as markup."""
    faults = []
    for one in _seen(window):
        if isinstance(one, QLabel) and "<" in one.text() and one.textFormat() != Qt.TextFormat.PlainText:
            faults.append(f"{told(one)} may take foreign text for markup")
        if hostile in one.toolTip():
            faults.append(f"{told(one)} has a tooltip that may take foreign text for markup")
    return faults


def clipped(window):
    """Return texts that are clipped."""
    faults = []
    for one in _seen(window):
        if type(one).__name__ in _ELIDED or not one.width() or _is_inner(one):
            continue
        if isinstance(one, QLabel) and one.text() and one.wordWrap():
            if one.height() < one.heightForWidth(one.width()) - 1:
                faults.append(f"{told(one)} is {one.height()} high and needs {one.heightForWidth(one.width())}")
        elif (isinstance(one, QLabel) and one.text()) or (isinstance(one, QAbstractButton) and one.text()):
            needed = one.minimumSizeHint().width() if isinstance(one, QLabel) else one.sizeHint().width()
            if one.width() < needed - 1:
                faults.append(f"{told(one)} is {one.width()} wide and needs {needed}")
    return faults + _outside(window)


def _outside(window):
    """Return scroll areas whose content is cut off on the right."""
    return [
        f"{told(area)} hides {area.widget().width() - area.viewport().width()} pixels at its right"
        for area in _seen(window)
        if isinstance(area, QScrollArea)
        and area.widget() is not None
        and area.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        and area.widget().width() > area.viewport().width()
    ]


def too_large(window, width, height):
    """Check that the window fits a small screen."""
    least = window.minimumSizeHint().expandedTo(window.minimumSize())
    if least.width() > width or least.height() > height:
        return [f"{type(window).__name__} needs at least {least.width()} x {least.height()} pixels"]
    return []


# ---- the edges of the window


def unreachable(window):
    """Return controls that lie partly outside the window and cannot be scrolled into view."""
    faults = []
    for one in controls(window):
        bring_into_sight(one)
        QApplication.processEvents()  # lets scroll areas lay out their contents
        hidden = _hidden_part(window, one)
        if hidden:
            faults.append(f"{told(one)} is cut {hidden} in a window of {window.width()} x {window.height()}")
    return faults


def _hidden_part(window, widget):
    """Return which ancestor hides part of the widget; content larger than its scroll area may be partly hidden."""
    where, inside = widget.rect(), widget
    while inside is not window:
        above = inside.parentWidget()
        where = where.translated(inside.pos())
        if isinstance(above.parentWidget(), QScrollArea):  # the viewport
            where = where.intersected(above.rect())
            if where.isEmpty():
                return "by the scroll area around it"
        elif not above.rect().contains(where):
            return f"by {told(above)}"
        inside = above
    return ""
