import io
from pathlib import Path

import pytest
from PIL import Image

from mezzotint_package import icons

PROJECT = Path(__file__).parents[3]

pytestmark = pytest.mark.requires_package("PySide6")


def test_windows_and_macos_get_every_size():
    drawing = icons.job_drawing(PROJECT)
    with Image.open(io.BytesIO(icons.ico(drawing))) as image:
        assert sorted(image.info["sizes"]) == [(size, size) for size in (16, 24, 32, 48, 64, 128, 256)]
    with Image.open(io.BytesIO(icons.icns(drawing))) as image:
        assert {size[0] * size[2] for size in image.info["sizes"]} >= {32, 64, 128, 256, 512, 1024}


def test_a_drawing_comes_out_the_same_each_time():
    drawing = icons.program_drawing(PROJECT)
    first = icons.png(drawing, 48)
    assert first == icons.png(drawing, 48)
    with Image.open(io.BytesIO(first)) as image:
        assert image.size == (48, 48)
        assert image.getpixel((0, 0))[3] == 0
        assert image.getpixel((24, 24))[3] == 255
