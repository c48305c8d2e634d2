"""Settings for where images are saved, how they are named, and which other folders the gallery shows."""

from PySide6.QtWidgets import QFileDialog, QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.settings import DEFAULT_TEMPLATE
from mezzotint_app.viewmodel.gallery.output_folders import OutputFolders
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.inputs.path_list import PathList
from mezzotint_app.widgets.labels import plain_label

_TOKENS = "[date] [time] [seed] [prompt] [model] [width] [height] [steps] [sampler] [index] [count]"

_KNOWN = 360  # pixels: a form gives wrapping labels more height than they need


class FolderList(PathList):
    """A list of folders, chosen or dropped."""

    def choose(self) -> QFileDialog:
        """Open a dialog for choosing a folder."""
        dialog = super().choose()
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        return dialog


class ImageSettings(QWidget):
    """Fields whose values are stored if they are valid; errors are shown below them."""

    def __init__(self, places: OutputFolders, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._places = places
        self.folder = QLineEdit(places.folder())
        self.template = QLineEdit(places.template())
        self.folder_problem = self._problem()
        self.template_problem = self._problem()
        self.others = FolderList(
            self.tr("Add a folder…"),
            self.tr("Also show its images in the gallery; nothing is copied"),
            endings=("",),
        )
        self._name()
        self._build()
        self.folder.editingFinished.connect(lambda: places.set_folder(self.folder.text()))
        self.template.editingFinished.connect(lambda: places.set_template(self.template.text()))
        self.others.edited.connect(places.set_gallery_folders)
        places.changed.connect(self._show)
        self._show()

    def _name(self) -> None:
        self.folder.setPlaceholderText(self._places.usual_folder())
        self.folder.setAccessibleName(self.tr("Image folder"))
        self.folder.setToolTip(self.tr("Where new images are saved; empty: Mezzotint in your Pictures folder"))
        self.template.setPlaceholderText(DEFAULT_TEMPLATE)
        self.template.setAccessibleName(self.tr("File names"))
        self.template.setToolTip(self.tr("A pattern such as [date]/[seed].png; existing files are never replaced"))

    def _build(self) -> None:
        choose = QPushButton(icon("folder"), self.tr("Choose…"))
        choose.setToolTip(self.tr("Choose the folder"))
        choose.clicked.connect(self._choose)
        first = QPushButton(icon("reuse"), self.tr("Reset"))
        first.setToolTip(self.tr("Reset to {template}").format(template=DEFAULT_TEMPLATE))
        first.clicked.connect(lambda: self._places.set_template(DEFAULT_TEMPLATE))
        form = self._form = QFormLayout(self)
        form.setContentsMargins(8, 16, 8, 8)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(12)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self.tr("Folder"), _row(self.folder, choose))
        form.addRow("", self.folder_problem)
        form.addRow(self.tr("File names"), _row(self.template, first))
        words = self.tr("Tokens: {tokens}; / starts a folder").format(tokens=_TOKENS)
        known = plain_label(words, role="muted", wrap=True)
        known.setMinimumWidth(_KNOWN)
        form.addRow("", known)
        form.addRow("", self.template_problem)
        form.addRow(self.tr("Also in the gallery"), self.others)
        align_names(form)

    def add(self, control: QWidget, name: str = "") -> None:
        """Append a control to the form."""
        self._form.addRow(name, control)
        align_names(self._form)

    def _problem(self) -> QLabel:
        label = plain_label(role="error", wrap=True)
        label.setVisible(False)
        return label

    def _choose(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Image folder"), self.folder.text())
        if folder:
            self._places.set_folder(folder)

    def _show(self) -> None:
        """Show the stored values, but leave invalid input as it is, so that the user can correct it."""
        places = self._places
        for line, label, problem, kept in (
            (self.folder, self.folder_problem, places.problem("folder"), places.folder()),
            (self.template, self.template_problem, places.problem("template"), places.template()),
        ):
            label.setText(problem)
            label.setVisible(bool(problem))
            line.setAccessibleDescription(problem)
            if not problem and line.text() != kept:
                line.setText(kept)
        self.others.show_paths(places.gallery_folders())


def _row(*parts: QWidget) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part, 1 if isinstance(part, QLineEdit) else 0)
    return holder
