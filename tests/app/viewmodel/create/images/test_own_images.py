"""Our own images hold what their names say, and go when nothing needs them."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtGui import QColor, QImage  # noqa: E402

from mezzotint.errors import StorageError  # noqa: E402
from mezzotint_app.viewmodel.create.images import own_images  # noqa: E402


def grey(width=20, height=10, value=0):
    image = QImage(width, height, QImage.Format.Format_Grayscale8)
    image.fill(value)
    return image


def test_an_image_is_kept_under_the_sum_of_its_file(tmp_path):
    image = grey()
    image.setPixelColor(3, 4, QColor(200, 200, 200))
    kept = own_images.keep(image, tmp_path / "masks")
    data = Path(kept.path).read_bytes()
    assert hashlib.sha256(data).hexdigest() == kept.sha256 == Path(kept.path).stem
    assert QImage.fromData(data).pixelColor(3, 4).red() == 200


def test_the_same_image_is_one_file(tmp_path):
    assert own_images.keep(grey(), tmp_path) == own_images.keep(grey(), tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_file_of_that_name_is_written_anew(tmp_path):
    kept = own_images.keep(grey(), tmp_path)
    Path(kept.path).write_bytes(b"cut off")
    assert own_images.keep(grey(), tmp_path) == kept
    assert hashlib.sha256(Path(kept.path).read_bytes()).hexdigest() == kept.sha256


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot write"):
        own_images.keep(grey(), tmp_path / "file" / "masks")


def test_an_image_without_pixels_is_told(tmp_path):
    with pytest.raises(StorageError, match="0x0"):
        own_images.keep(QImage(), tmp_path)


@given(st.integers(1, 40), st.integers(1, 20), st.data())
def test_blank_means_that_no_pixel_is_light(width, height, data):
    image = grey(width, height, data.draw(st.integers(0, 127)))
    assert own_images.is_blank(image)
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    value = data.draw(st.integers(128, 255))
    image.setPixelColor(x, y, QColor(value, value, value))
    assert not own_images.is_blank(image)


def test_what_is_needed_or_new_stays_and_the_rest_goes(tmp_path):
    needed = own_images.keep(grey(value=1), tmp_path)
    old = own_images.keep(grey(value=2), tmp_path)
    new = own_images.keep(grey(value=3), tmp_path)
    for one in (needed, old):
        os.utime(one.path, (1_000, 1_000))
    os.utime(new.path, (1_000_000, 1_000_000))
    own_images.forget(tmp_path, {needed.path}, now=lambda: 1_000_100.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(Path(one.path).name for one in (needed, new))


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path):
    own_images.forget(tmp_path / "none", set())
    assert not (tmp_path / "none").exists()
