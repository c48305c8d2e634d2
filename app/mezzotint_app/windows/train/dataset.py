"""The images that would be trained on: problems, and a grid of crops with captions that are edited in place."""

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.thumbnails import side_for
from mezzotint_app.viewmodel.train.dataset import CAPTION, CROP, PROBLEM, THUMBNAIL
from mezzotint_app.viewmodel.train.texts import captions_line, problems_text
from mezzotint_app.viewmodel.train.train import TrainModel
from mezzotint_app.widgets.empty_state import EmptyState
from mezzotint_app.widgets.images.crop_delegate import CropDelegate
from mezzotint_app.widgets.images.grid_view import GridView
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.widgets.notice_bar import NoticeBar


class DatasetPane(QWidget):
    """Shows the last check of the dataset."""

    folder_asked = Signal()  # let the user choose a folder
    sample_asked = Signal()  # use the bundled images
    rescan_asked = Signal()

    def __init__(self, model: TrainModel) -> None:
        super().__init__()
        self._model = model
        self._make_grid()
        self._make_head()
        self._make_empty()
        self._build()

    def show_model(self) -> None:
        """Show the check."""
        found = self._model.checks.found()
        has_images = found is not None and bool(found.images)
        self._stack.setCurrentIndex(0 if has_images else 1)
        if found is None or not has_images:
            self.problems.show_text("")
            self._show_empty()
            return
        self._captions.setText(captions_line(found))
        self.problems.show_text(problems_text(found, self._model.folder()))

    # ---- setup

    def _make_grid(self) -> None:
        self.grid = GridView()
        self.grid.setAccessibleName(self.tr("Images with their captions"))
        self.grid.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.grid.setDragDropMode(QAbstractItemView.DragDropMode.NoDragDrop)
        self.grid.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
        )
        self._delegate = CropDelegate(
            thumbnail=THUMBNAIL, crop=CROP, caption=CAPTION, problem=PROBLEM, parent=self.grid
        )
        self.grid.setItemDelegate(self._delegate)
        self.grid.set_cell(self._delegate.cell(self.grid))
        self.grid.setModel(self._model.dataset)
        self.grid.visible_rows_changed.connect(self._in_sight)
        self._model.dataset.modelReset.connect(self._in_sight)
        for signal in (self._model.dataset.modelReset, self._model.dataset.dataChanged):
            signal.connect(lambda *_: self.grid.viewport().update())

    def _make_head(self) -> None:
        self._captions = plain_label(role="muted", wrap=True)
        self.edit = QPushButton(icon("edit"), self.tr("Edit caption"))
        self.edit.setToolTip(self.tr("Write what the selected image shows (F2, or double-click it)"))
        self.edit.clicked.connect(self._edit)
        self.rescan = QPushButton(icon("retry"), self.tr("Rescan"))
        self.rescan.setToolTip(self.tr("Read the folder again, after images or captions were changed elsewhere"))
        self.rescan.clicked.connect(self.rescan_asked)
        for button in (self.edit, self.rescan):
            button.setAccessibleName(button.text())
        self.problems = NoticeBar("warning", "warning")

    def _make_empty(self) -> None:
        self.empty = EmptyState("train")
        self.empty.button.clicked.connect(self.folder_asked)
        self.sample = QPushButton(icon("play"), self.tr("Try it with sample images"))
        self.sample.setAccessibleName(self.sample.text())
        self.sample.setToolTip(
            self.tr("Twenty images of a purple castle, which the small bundled model learns in a minute")
        )
        self.sample.clicked.connect(self.sample_asked)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._captions, 1)
        head.addWidget(self.edit)
        head.addWidget(self.rescan)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.problems)
        column.addWidget(self.grid, 1)
        nothing = QWidget()
        middle = QVBoxLayout(nothing)
        middle.addStretch(1)
        middle.addWidget(self.empty)
        middle.addWidget(self.sample, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(2)
        self._stack = QStackedWidget()
        self._stack.addWidget(full)
        self._stack.addWidget(nothing)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)

    # ---- display

    def _show_empty(self) -> None:
        choose = self.tr("Choose a folder…")
        tip = self.tr("A folder with 10 to 50 images of what is to be learned")
        if not self._model.form().folder:
            self.empty.show_words(
                self.tr("Teach a model something new"),
                self.tr(
                    "Choose a folder with images of one thing, person or style, or drop it here. The result is a "
                    "LoRA: a small file that adds it to the model."
                ),
                choose, tip,
            )  # fmt: skip
        elif self._model.checks.is_checking():
            self.empty.show_words(self.tr("Reading the images…"), "")
        else:
            problems = self._model.problems()
            words = problems.get("folder") or problems.get("check", "")
            self.empty.show_words(self.tr("No images to learn from"), words, choose, tip)
        self.sample.setVisible(not self._model.form().folder)

    def _in_sight(self, *_rows: int) -> None:
        self._model.dataset.show_rows(
            self.grid.rows_in_sight(), side_for(self._delegate.side() * self.devicePixelRatioF())
        )

    def _edit(self) -> None:
        index = self.grid.currentIndex()
        if not index.isValid():
            index = self._model.dataset.index(0)
            self.grid.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.grid.scrollTo(index)
        self.grid.edit(index)
