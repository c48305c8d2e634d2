"""The list of regional prompts."""

from dataclasses import replace

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from mezzotint.values.regions import MAX_REGIONS, RegionRef, check_region
from mezzotint_app.viewmodel.create.regions import MASK_FILE, PARTS
from mezzotint_app.windows.create.regions import RegionList


@pytest.fixture
def regions(qtbot):
    made = RegionList()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def told(regions):
    found = []
    regions.edited.connect(found.append)
    return found


def test_from_nothing_to_two_and_back(regions, told):
    regions.add.click()
    regions.add.click()
    first, second = regions.rows()
    QTest.keyClicks(first.prompt, "a house")
    second.weight.setValue(0.5)
    second.part.choose("top")
    assert told[-1] == (
        RegionRef(box=PARTS["left"], prompt="a house"),
        RegionRef(box=PARTS["top"], prompt="", weight=0.5),
    )
    first.removed.emit()
    assert len(told[-1]) == len(regions.rows()) == 1
    assert regions.rows()[0].part.value() == "top"


def test_a_box_is_typed(regions, told):
    regions.show_regions((RegionRef(box=(0.1, 0.1, 0.2, 0.2), prompt="a"),))
    (row,) = regions.rows()
    assert row.part.value() == "" and row.box.text() == "0.1, 0.1, 0.2, 0.2"
    row.box.setText("0,0,3,1")
    row.box.editingFinished.emit()
    assert "is not a box" in row.problem.text() and not told
    row.box.setText("0, 0, 0.5, 1")
    row.box.editingFinished.emit()
    assert told[-1][0].box == PARTS["left"] and row.problem.isHidden()


def test_no_more_than_can_be_used(regions):
    for _ in range(MAX_REGIONS):
        regions.add.click()
    assert not regions.add.isEnabled()


def test_a_mask_of_an_image_is_kept_until_another_part_is_chosen(regions, told):
    regions.show_regions((RegionRef(mask="/masks/sky.png", prompt="a", mask_sha256="0"),))
    (row,) = regions.rows()
    assert row.part.currentText() == "Mask sky.png" and not row.box.isVisible()
    QTest.keyClicks(row.prompt, "b")
    assert told[-1][0].mask == "/masks/sky.png"
    row.part.choose("left")
    assert told[-1] == (RegionRef(box=PARTS["left"], prompt="ab"),)


def test_a_mask_file_is_chosen(regions, told):
    regions.add.click()
    (row,) = regions.rows()
    row.part.choose("")
    row.part.choose(MASK_FILE)
    dialog = regions.findChild(QFileDialog)
    assert row.part.value() == "" and len(told) == 1, "nothing changes until a file is chosen"
    dialog.fileSelected.emit("/masks/sky.webp")
    dialog.close()
    assert told[-1] == (RegionRef(mask="/masks/sky.webp", prompt=""),)
    assert row.part.currentText() == "Mask sky.webp" and not row.box.isVisible()
    check_region(replace(told[-1][0], prompt="blue"))
