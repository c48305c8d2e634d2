"""What a drag holds is bounded and sorted: files of this machine, addresses, pixels."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QMimeData, QUrl  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402

from mezzotint_app.viewmodel.dropped.data import MOST_PATHS, can_hold, drop_data  # noqa: E402


@pytest.fixture
def data():
    return QMimeData()


def image():
    made = QImage(3, 2, QImage.Format.Format_RGB32)
    made.fill(0)
    return made


def test_files_in_their_order_each_once(data, tmp_path):
    files = [tmp_path / name for name in ("b.png", "a b#?%.png", "b.png")]
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in files])
    assert can_hold(data)
    assert [path.replace("\\", "/") for path in drop_data(data).paths] == [path.as_posix() for path in files[:2]]


def test_ten_thousand_files_are_cut(data):
    data.setUrls([QUrl.fromLocalFile(f"/a/{number}.png") for number in range(10_000)])
    found = drop_data(data)
    assert (len(found.paths), found.left_out) == (MOST_PATHS, 10_000 - MOST_PATHS)


def test_addresses_are_counted_and_never_opened(data):
    data.setUrls([QUrl("https://example.org/a.png"), QUrl("ftp://x/y"), QUrl("not a scheme")])
    found = drop_data(data)
    assert (found.paths, found.elsewhere, found.image) == ((), 3, None)


def test_a_file_counts_before_its_pixels(data):
    data.setImageData(image())
    data.setUrls([QUrl.fromLocalFile("/a.png")])
    assert (len(drop_data(data).paths), drop_data(data).image) == (1, None)


def test_pixels_without_a_file(data):
    data.setImageData(image())
    assert can_hold(data)
    assert drop_data(data).image.size() == image().size()


def test_text_is_nothing(data):
    data.setText("/etc/passwd")
    assert not can_hold(data)
    assert drop_data(data).paths == ()


def test_pixels_that_are_none(data):
    data.setImageData("text")
    assert drop_data(data).image is None
