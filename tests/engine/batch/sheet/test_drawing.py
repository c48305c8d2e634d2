"""The grid as one image: every cell in its place, bounded in size, whatever the files and labels are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from mezzotint.batch.sheet.cells import Axis, Grid
from mezzotint.batch.sheet.drawing import MAX_SHEET_PIXELS, MAX_SHEET_SIDE, draw_sheet

RED, BLUE = (255, 0, 0), (0, 0, 255)
LABELS = st.lists(st.text(max_size=40), min_size=1, max_size=3).map(tuple)


def grid(files, x=("1",), y=("",), z=("",)):
    names = ("steps", "seed" if y != ("",) else "", "model" if z != ("",) else "")
    x, y, z = (Axis(name=name, labels=labels) for name, labels in zip(names, (x, y, z), strict=True))
    return Grid(title="", axes=(x, y, z), files=files)


def count(sheet, colour):
    return int((np.array(sheet) == colour).all(-1).sum())


@pytest.fixture
def folder(tmp_path):
    Image.new("RGB", (60, 40), RED).save(tmp_path / "red.png")
    Image.new("RGB", (30, 40), BLUE).save(tmp_path / "blue.png")
    (tmp_path / "broken.png").write_bytes(b"no image")
    return tmp_path


def test_every_image_is_there_once(folder):
    sheet = draw_sheet(grid({(0, 0, 0): "red.png", (1, 0, 0): "blue.png"}, x=("1", "2")), folder)
    assert (count(sheet, RED), count(sheet, BLUE)) == (60 * 40, 30 * 40)
    columns = {colour: (np.array(sheet) == colour).all(-1).any(0).nonzero()[0] for colour in (RED, BLUE)}
    assert columns[RED].max() < columns[BLUE].min()
    assert count(sheet, (0x20, 0x20, 0x20)) > 4  # of the labels


def test_missing_and_broken_images_are_empty(folder):
    made = draw_sheet(grid({(0, 0, 0): "red.png", (1, 0, 0): "broken.png", (2, 0, 0): "gone.png"}, x="1234"), folder)
    assert count(made, RED) == 60 * 40 and count(made, (0xE4, 0xE4, 0xE4)) == 3 * 60 * 40
    assert count(draw_sheet(grid({}), folder), (0xE4, 0xE4, 0xE4)) == 64 * 64


@pytest.mark.parametrize(("x", "y", "z"), [(1, 10, 100), (100, 10, 1), (4, 4, 1)])
def test_the_size_is_bounded(tmp_path, x, y, z):
    Image.new("RGB", (3000, 2000), RED).save(tmp_path / "large.png")
    labels = [tuple(map(str, range(each))) for each in (x, y, z)]
    sheet = draw_sheet(grid({(0, 0, 0): "large.png"}, *labels), tmp_path, cancelled=lambda: True)
    assert max(sheet.size) <= MAX_SHEET_SIDE * (2 if z == 100 else 1)  # with a label for each row of 16 pixels
    assert sheet.width * sheet.height <= MAX_SHEET_PIXELS


@settings(max_examples=20)
@given(LABELS, LABELS, LABELS)
def test_any_label_can_be_written(tmp_path_factory, x, y, z):
    draw_sheet(grid({}, x, y, z), tmp_path_factory.getbasetemp())
