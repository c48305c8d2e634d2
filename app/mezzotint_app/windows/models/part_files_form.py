"""The files of a model's components: one choice for each text encoder and VAE that can be read from another file."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePath

from PySide6.QtWidgets import QFormLayout, QWidget

from mezzotint.protocol import PartFiles
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.labels import plain_label


class PartFilesForm(QWidget):
    """Shows and changes the files of one model; invisible if all of its components are its own."""

    def __init__(self, library: ModelLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "form")
        self._library = library
        self._id: str | None = None
        self._boxes: dict[str, ChoiceBox] = {}
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)  # names of files are long
        library.part_files_changed.connect(self._changed)

    def show_model(self, identity: str | None) -> None:
        """Show a model's files, once they are known."""
        parts = () if identity is None else self._library.part_files(identity)
        if parts is None and identity == self._id:
            return  # until the answer comes, what was known
        self._id = identity
        self._show(parts or ())

    def box(self, component: str) -> ChoiceBox:
        """The choice for a component."""
        return self._boxes[component]

    def _show(self, parts: tuple[PartFiles, ...]) -> None:
        if [part.component for part in parts] != list(self._boxes):
            self._build(parts)
        for part in parts:
            box = self._boxes[part.component]
            box.show_choices(tuple(self._choices(part)), part.file if part.chosen else None)
            box.setToolTip(plain_tooltip(part.file or self.tr("The file that this component is read from")))
        self.setVisible(bool(parts))

    def _build(self, parts: tuple[PartFiles, ...]) -> None:
        """Make the rows; they stay as long as the components do, so that an open list is not closed."""
        while self._form.rowCount():
            self._form.removeRow(0)
        self._boxes = {}
        for part in parts:
            name = self.tr("File of {component}").format(component=part.component)
            box = self._boxes[part.component] = ChoiceBox(name, "")
            box.chosen.connect(partial(self._choose, part.component))
            self._form.addRow(plain_label(name, role="muted"), box)

    def _choices(self, part: PartFiles) -> Iterator[Choice]:
        automatic = self.tr("Automatic")
        if part.file and not part.chosen:
            automatic = self.tr("Automatic: {file}").format(file=PurePath(part.file).name)
        yield Choice(value=None, name=automatic)
        files = (*part.fitting, part.file) if part.chosen and part.file not in part.fitting else part.fitting
        times = Counter(PurePath(file).name for file in files)
        for file in files:
            path = PurePath(file)
            yield Choice(value=file, name=path.name if times[path.name] == 1 else f"{path.parent.name}/{path.name}")

    def _choose(self, component: str, file: str | None) -> None:
        if self._id is not None:
            self._library.choose_part(self._id, component, file)

    def _changed(self, identity: str) -> None:
        if identity == self._id:
            self.show_model(identity)
