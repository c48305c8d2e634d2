"""Images as rows: what is used of them, captions that can be edited, and problems."""

import pytest
from PySide6.QtCore import QModelIndex, QRectF, Qt
from train_made import FOLDER, check, image, problem

from mezzotint_app.viewmodel.train.dataset import BROKEN, CAPTION, CROP, PROBLEM, THUMBNAIL, DatasetModel

EDIT = Qt.ItemDataRole.EditRole


@pytest.fixture
def dataset(works):
    made = works.model.dataset
    assert made.rowCount() == 3 and made.rowCount(made.index(0)) == 0
    return made


def test_a_row_tells_all_about_its_image(works, dataset):
    works.checks.again()
    works.check(check(image(0, regularization=True), image(1, "a castle"), problems=(problem(0), problem(9))))
    first, second = dataset.index(0), dataset.index(1)
    assert dataset.data(first, CROP) == QRectF(0.25, 0, 0.5, 1)
    assert dataset.data(first, PROBLEM) == "it is small" and dataset.data(second, PROBLEM) == ""
    assert dataset.data(second, CAPTION) == "a castle" and dataset.data(second, EDIT) == "a castle"
    assert dataset.data(first) == "0.png: no caption\nit is small"
    tooltip = dataset.data(first, Qt.ItemDataRole.ToolTipRole)
    assert "200 × 100 pixels, used as 64 × 64" in tooltip and "Regularization image" in tooltip
    assert dataset.data(first, THUMBNAIL) is None and dataset.data(first, BROKEN) is None
    assert dataset.data(first, 9999) is None and dataset.data(QModelIndex()) is None
    assert dataset.image(1).captions == ("a castle",)


def test_an_edited_caption_is_written_once(works, dataset):
    index = dataset.index(2)
    assert dataset.flags(index) & Qt.ItemFlag.ItemIsEditable
    assert dataset.data(index, EDIT) == "a house\na hut"
    assert not dataset.setData(index, "a house\n\n a   hut ", EDIT)
    assert not dataset.setData(index, "a", Qt.ItemDataRole.DisplayRole)
    assert dataset.setData(index, " a  tower\nred", EDIT)
    edit = works.librarian.last("training_caption").params
    assert (edit.image, edit.captions) == (f"{FOLDER}/2.png", ("a tower", "red"))
    assert dataset.data(index, CAPTION) == "a tower / red"


def test_rows_keep_their_places_while_the_images_are_the_same(works, dataset):
    resets = []
    dataset.modelReset.connect(lambda: resets.append(True))
    works.checks.again()
    works.check(check(image(2, "a"), image(0, "b"), image(1, "c")))
    assert [dataset.image(row).captions for row in range(3)] == [("b",), ("c",), ("a",)] and resets == []
    works.checks.again()
    works.check(check(image(5, "a"), image(0, "b")))
    assert dataset.rowCount() == 2 and resets == [True]


def test_thumbnails_are_asked_for_rows_in_sight(works, dataset):
    dataset.show_rows(range(1, 9), 256)
    asked = [one.params for one in works.librarian.open("thumbnail")]
    assert [(one.path, one.side) for one in asked] == [(f"{FOLDER}/1.png", 256), (f"{FOLDER}/2.png", 256)]
    changed = []
    dataset.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    works.thumbnails.changed.emit(f"{FOLDER}/2.png")
    assert changed == [2]


def test_without_a_check_there_are_none(works):
    made = DatasetModel(works.thumbnails)
    made.use(None)
    assert made.rowCount() == 0
