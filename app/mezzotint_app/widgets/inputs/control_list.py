"""The list of control images: files are added by dialog or drag and drop."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QVBoxLayout

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.controls import ControlChoice, with_images, with_model
from mezzotint_app.viewmodel.create.images.control_previews import ControlPreviews
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.viewmodel.dropped.folder_of_images import SUFFIXES
from mezzotint_app.widgets.drop_area import DropArea
from mezzotint_app.widgets.inputs.control_row import ControlRow
from mezzotint_app.widgets.inputs.path_list import file_dialog

_NETWORKS = (".safetensors",)


class ControlList(DropArea):
    """Emits `edited` with the control images after each change by the user."""

    edited = Signal(tuple)

    def __init__(self, previews: ControlPreviews) -> None:
        super().__init__()
        self._previews = previews
        previews.changed.connect(lambda: self.show_controls(self._controls))
        self._controls: tuple[ControlChoice, ...] = ()
        self._rows: list[ControlRow] = []
        self._networks: tuple[str, ...] = ()
        self._add = QPushButton(icon("add"), self.tr("Add control image…"))
        self._add.setAccessibleName(self.tr("Add control image"))
        self._add.setToolTip(self.tr("Choose images, or drop them here"))
        self._add.clicked.connect(self.choose)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)
        self.dropped.connect(self.take)

    def show_controls(self, controls: Sequence[ControlChoice]) -> None:
        """Show these control images; existing rows and the focus are kept."""
        self._controls = tuple(controls)
        while len(self._rows) > len(self._controls):
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(self._controls):
            self._make_row(len(self._rows))
        for row, control in zip(self._rows, self._controls, strict=True):
            row.show_control(control)
            row.show_preview(self._previews.of(control))

    def show_networks(self, names: Sequence[str]) -> None:
        """Offer these ControlNets by name."""
        self._networks = tuple(names)
        for row in self._rows:
            row.show_networks(names)

    def rows(self) -> tuple[ControlRow, ...]:
        """One row per control image."""
        return tuple(self._rows)

    def take(self, data: DropData) -> None:
        """Add dropped images; a dropped ControlNet is for the first image that has none, or for the last."""
        self.add(path for path in data.paths if path.lower().endswith(SUFFIXES))
        for path in data.paths:
            if path.lower().endswith(_NETWORKS) and self._controls:
                waiting = (place for place, one in enumerate(self._controls) if not one.model)
                self.use_model(next(waiting, len(self._controls) - 1), path)

    def add(self, paths: Iterable[str]) -> None:
        """Add images, the last of which gets a ControlNet next."""
        wanted = with_images(self._controls, paths)
        if wanted != self._controls:
            self._emit_edited(wanted)
            self._rows[-1].parts()["choose"].setFocus()

    def use_model(self, place: int, path: str) -> None:
        """Use another ControlNet for an image."""
        self._emit_edited(with_model(self._controls, place, path))

    def choose(self) -> QFileDialog:
        """Open a file dialog for images."""
        dialog = file_dialog(self, self.tr("Choose control images"), SUFFIXES)
        dialog.filesSelected.connect(self.add)
        dialog.open()
        return dialog

    def choose_model(self, place: int) -> QFileDialog:
        """Open a file dialog for the ControlNet of an image."""
        dialog = file_dialog(self, self.tr("Choose a ControlNet"), _NETWORKS)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.use_model(place, path))
        dialog.open()
        return dialog

    def choose_mask(self, place: int) -> QFileDialog:
        """Open a file dialog for where an image prompt applies."""
        dialog = file_dialog(self, self.tr("Choose a mask"), SUFFIXES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self._replace(place, {"mask": path, "mask_sha256": None}))
        dialog.open()
        return dialog

    def choose_encoder(self, place: int) -> QFileDialog:
        """Open a file dialog for the image encoder of an IP-Adapter."""
        dialog = file_dialog(self, self.tr("Choose an image encoder"), _NETWORKS)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self._replace(place, {"encoder": path, "encoder_sha256": None}))
        dialog.open()
        return dialog

    def save_preview(self, place: int) -> QFileDialog:
        """Open a file dialog for what is made of an image."""
        control = self._controls[place]
        beside = Path(control.image).with_suffix("")
        dialog = QFileDialog(self, self.tr("Save control image"), f"{beside}-{control.preprocess}.png")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("PNG image (*.png)"))
        dialog.setDefaultSuffix("png")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._previews.save(control, path))
        dialog.open()
        return dialog

    def _emit_edited(self, controls: tuple[ControlChoice, ...]) -> None:
        self.show_controls(controls)  # at once, as the next change builds on it
        self.edited.emit(controls)

    def _make_row(self, place: int) -> None:
        row = ControlRow()
        row.edited.connect(lambda values: self._replace(place, values))
        row.show_networks(self._networks)
        row.model_wanted.connect(lambda: self.choose_model(place))
        row.model_chosen.connect(lambda name: self.use_model(place, name))
        row.mask_wanted.connect(lambda: self.choose_mask(place))
        row.encoder_wanted.connect(lambda: self.choose_encoder(place))
        row.preview_wanted.connect(lambda: self._previews.make(self._controls[place]))
        row.save_wanted.connect(lambda: self.save_preview(place))
        row.removed.connect(lambda: self._remove(place))
        self._rows.append(row)
        self._layout.insertWidget(place, row)

    def _replace(self, place: int, values: dict[str, object]) -> None:
        changed = replace(self._controls[place], **values)  # type: ignore[arg-type]
        self._emit_edited((*self._controls[:place], changed, *self._controls[place + 1 :]))

    def _remove(self, place: int) -> None:
        self._add.setFocus()
        self._emit_edited(self._controls[:place] + self._controls[place + 1 :])
