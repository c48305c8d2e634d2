"""The list of layers, from top to bottom, with what can be done to them."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QInputDialog,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QSizePolicy,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel, kind_name
from mezzotint_app.viewmodel.canvas.layers import KINDS, Layer, LayerKind
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.button_menu import show_menu
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import plain_label

_DRAWINGS: dict[LayerKind, str] = {
    "image": "image",
    "mask": "select-all",
    "control": "edit",
    "reference": "link",
    "sketch": "brush",
}
_ID = Qt.ItemDataRole.UserRole


class LayersPanel(QWidget):
    """The check mark shows or hides a layer."""

    chosen = Signal()  # a layer to work on, by mouse or menu

    def __init__(self, model: CanvasModel) -> None:
        super().__init__()
        self._model, self._document = model, model.document
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Layers"))
        self.list.setToolTip(self.tr("Tools change the selected layer; Space shows or hides it"))
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.model().rowsMoved.connect(self._moved)
        self.list.setMinimumHeight(118)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # the room that is left
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._opacity = QSlider(Qt.Orientation.Horizontal)
        self._opacity.setRange(0, 100)
        self._opacity.setAccessibleName(self.tr("Layer opacity"))
        self._opacity.setToolTip(self.tr("Layer opacity"))
        buttons = QHBoxLayout()
        buttons.setSpacing(2)
        add = icon_button("add", self.tr("Add a layer"))
        add.clicked.connect(lambda: self._show_new(add))
        change = icon_button("layers", self.tr("Change the layer's kind"))
        change.clicked.connect(lambda: show_menu(self._kinds(change, self._change_kind), change))
        buttons.addWidget(add)
        buttons.addWidget(change)
        self._add_buttons(buttons)
        opacity = QHBoxLayout()
        opacity.addWidget(plain_label(self.tr("Opacity")))
        opacity.addWidget(self._opacity, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(plain_label(self.tr("Layers"), role="heading"))
        column.addWidget(self.list, 1)
        column.addLayout(opacity)
        column.addLayout(buttons)
        self._document.layers_changed.connect(self._show)
        self.list.currentItemChanged.connect(self._activate)
        self.list.itemChanged.connect(self._toggled)
        self.list.itemClicked.connect(lambda _item: self.chosen.emit())
        self.list.itemDoubleClicked.connect(lambda _item: self._rename())
        self._opacity.valueChanged.connect(
            lambda value: self._with_active(lambda one: self._document.change_layer(one.id, opacity=value / 100))
        )
        self._opacity.sliderReleased.connect(self._document.end_step)
        self._show()

    def _add_buttons(self, row: QHBoxLayout) -> None:
        document = self._document
        acts: tuple[tuple[str, str, Callable[[Layer], object]], ...] = (
            ("up", self.tr("Move layer up"), lambda one: document.raise_layer(one.id, 1)),
            ("down", self.tr("Move layer down"), lambda one: document.raise_layer(one.id, -1)),
            ("shrink", self.tr("Scale layer…"), lambda one: self._scale(one)),
            ("edit", self.tr("Rename layer…"), lambda _one: self._rename()),
            ("clear", self.tr("Clear layer"), lambda one: document.clear_layer(one.id)),
            ("trash", self.tr("Remove layer"), lambda one: document.remove_layer(one.id)),
        )
        for drawing, words, act in acts:
            button = icon_button(drawing, words)
            button.clicked.connect(lambda _on=False, act=act: self._with_active(act))
            row.addWidget(button)
        row.addStretch(1)

    def _with_active(self, act: Callable[[Layer], object]) -> None:
        layer = self._document.active()
        if layer is not None:
            act(layer)

    def _show_new(self, button: QToolButton) -> None:
        menu = self._kinds(button, self._model.new_layer)
        menu.addSeparator()
        menu.addAction(icon("copy"), self.tr("Copy of the selected layer"), self._model.copy_layer)
        show_menu(menu, button)

    def _kinds(self, button: QToolButton, act: Callable[[LayerKind], object]) -> QMenu:
        menu = QMenu(button)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for kind in KINDS:
            action = menu.addAction(icon(_DRAWINGS[kind]), kind_name(kind))
            action.setToolTip(self._purpose(kind))
            action.triggered.connect(lambda _on=False, kind=kind: act(kind))
            action.triggered.connect(lambda: self.chosen.emit())
        menu.setToolTipsVisible(True)
        return menu

    def _change_kind(self, kind: LayerKind) -> None:
        """Make the layer one of another kind: an image that is opened, for example, a reference."""
        self._document.end_step()
        self._with_active(lambda one: self._document.change_layer(one.id, kind=kind))

    def _purpose(self, kind: LayerKind) -> str:
        return {
            "image": self.tr("Pixels of the picture"),
            "mask": self.tr("Where the picture is generated anew"),
            "control": self.tr("The image of a ControlNet"),
            "reference": self.tr("A reference image, for models that edit"),
            "sketch": self.tr("Colours that generation starts from"),
        }[kind]

    # ---- display

    def _show(self) -> None:
        active = self._document.active()
        layers = self._document.layers()[::-1]
        with QSignalBlocker(self.list):
            if [self.list.item(row).data(_ID) for row in range(self.list.count())] != [one.id for one in layers]:
                self.list.clear()  # only then: a click that chooses a layer ends on the item where it began
                for _ in layers:
                    self.list.addItem(QListWidgetItem())
            for row, layer in enumerate(layers):
                _fill(self.list.item(row), layer)
                if active is not None and layer.id == active.id:
                    self.list.setCurrentRow(row)
        with QSignalBlocker(self._opacity):
            self._opacity.setValue(round(100 * active.opacity) if active is not None else 100)

    # ---- actions

    def _activate(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._document.set_active(item.data(_ID))

    def _toggled(self, item: QListWidgetItem) -> None:
        self._document.end_step()
        self._document.change_layer(item.data(_ID), visible=item.checkState() == Qt.CheckState.Checked)

    def _moved(self, _from: QModelIndex, row: int, _last: int, _to: QModelIndex, before: int) -> None:
        """Follow a layer that was dragged to another place in the list."""
        place = before if before < row else before - 1
        self._document.raise_layer(self.list.item(place).data(_ID), row - place)

    def _rename(self) -> None:
        layer = self._document.active()
        if layer is None:
            return
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Rename layer"))
        dialog.setLabelText(self.tr("Name"))
        dialog.setTextValue(layer.name or kind_name(layer.kind))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(lambda name: self._document.change_layer(layer.id, name=name[:200]))
        dialog.open()

    def _scale(self, layer: Layer) -> None:
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Scale layer"))
        dialog.setLabelText(self.tr("Percent"))
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(1, 1000)
        dialog.setIntValue(100)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.intValueSelected.connect(lambda percent: self._scaled(layer, percent))
        dialog.open()

    def _scaled(self, layer: Layer, percent: int) -> None:
        if percent != 100 and not self._document.scale_layer(layer.id, percent / 100):
            self._model.message.emit(self.tr("The layer is empty, or would become too large."))


def _fill(item: QListWidgetItem, layer: Layer) -> None:
    item.setIcon(icon_in(_DRAWINGS[layer.kind], "text"))
    item.setText(layer.name or kind_name(layer.kind))
    item.setData(_ID, layer.id)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(Qt.CheckState.Checked if layer.visible else Qt.CheckState.Unchecked)
    item.setToolTip(plain_tooltip(f"{kind_name(layer.kind)}: {layer.name}"))
