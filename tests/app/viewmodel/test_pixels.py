"""Rows of pixels come in whole or not at all; the newest image wins; files are always deleted."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtGui import QImage  # noqa: E402

from mezzotint.errors import ImageRefused, StorageError  # noqa: E402
from mezzotint.library_protocol import Pixels, PixelsRequest  # noqa: E402
from mezzotint_app.viewmodel.pixels import LARGEST_SIDE, PixelLoader, read_pixels  # noqa: E402


def rows(width, height, layout="rgb", padding=0):
    channels = len(layout)
    return b"".join(
        bytes((7 * x + 13 * y + 29 * band) % 256 if band < 3 else 255 for x in range(width) for band in range(channels))
        + bytes(padding)
        for y in range(height)
    )


def pixels(path, wide, high, layout="rgb", padding=0, **others):
    values = {
        "path": str(path),
        "layout": layout,
        "width": wide,
        "height": high,
        "bytes_per_line": wide * len(layout) + padding,
        "image_width": wide,
        "image_height": high,
    }
    return Pixels(**(values | others))


def written(folder, width=5, height=3, **options):
    path = folder / "pixels.raw"
    path.write_bytes(rows(width, height, **options))
    return pixels(path, width, height, **options)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 40), st.integers(1, 20), st.sampled_from(["rgb", "rgba"]), st.integers(0, 20))
def test_every_pixel_comes_in(tmp_path, width, height, layout, padding):
    image = read_pixels(written(tmp_path, width, height, layout=layout, padding=padding))
    for y in range(height):
        for x in range(width):
            colour = image.image.pixelColor(x, y)
            assert [colour.red(), colour.green(), colour.blue()] == [(7 * x + 13 * y + 29 * b) % 256 for b in range(3)]
    assert not (tmp_path / "pixels.raw").exists()


def test_the_image_owns_its_memory_and_paints_quickly(tmp_path):
    image = read_pixels(written(tmp_path)).image
    assert image.format() == QImage.Format.Format_RGB32
    assert read_pixels(written(tmp_path, layout="rgba")).image.hasAlphaChannel()


def test_the_size_of_the_image_itself_is_told(tmp_path):
    image = read_pixels(pixels(_file(tmp_path, rows(5, 3)), 5, 3, image_width=500, image_height=300))
    assert (image.width, image.height, image.image.width()) == (500, 300, 5)


def _file(folder, data):
    path = folder / "pixels.raw"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("change", [-1, 1, -45, 10_000])
def test_a_file_of_another_size_is_refused_and_deleted(tmp_path, change):
    data = rows(5, 3)
    path = _file(tmp_path, data[:change] if change < 0 else data + bytes(change))
    with pytest.raises(ImageRefused, match="bytes instead of"):
        read_pixels(pixels(path, 5, 3))
    assert not path.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"height": -3},
        {"width": LARGEST_SIDE + 1},
        {"width": 60_000, "height": 60_000},
        {"bytes_per_line": 14},
        {"bytes_per_line": 1 << 40},
        {"image_width": 0},
        {"image_height": 10**12},
    ],
)
def test_numbers_that_cannot_be_are_refused_before_memory_is_taken(tmp_path, wrong):
    path = _file(tmp_path, rows(5, 3))
    with pytest.raises(ImageRefused):
        read_pixels(pixels(path, 5, 3, **wrong))
    assert not path.exists()


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(StorageError, match="cannot read"):
        read_pixels(pixels(tmp_path / "gone.raw", 5, 3))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_neither_waited_for_nor_deleted(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImageRefused, match="not a regular file"):
        read_pixels(pixels(tmp_path / "pipe", 5, 3))
    assert (tmp_path / "pipe").exists()


def test_a_folder_and_a_link_are_neither_read_nor_deleted(tmp_path):
    path = _file(tmp_path, rows(5, 3))
    (tmp_path / "folder").mkdir()
    with pytest.raises(ImageRefused, match="not a regular file"):
        read_pixels(pixels(tmp_path / "folder", 5, 3))
    try:
        (tmp_path / "link").symlink_to(path)
    except OSError:
        return  # Windows without the right to make links
    with pytest.raises(ImageRefused, match="not a regular file"):
        read_pixels(pixels(tmp_path / "link", 5, 3))
    assert path.exists()


# ---- the loader


class Told:
    def __init__(self):
        self.images, self.failures = [], []

    def then(self, image):
        self.images.append((image.width(), image.height()))

    def failed(self, failure):
        self.failures.append((failure.kind, failure.message))


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def loader(service, inline):
    return PixelLoader(service, inline)


def test_the_librarian_parses_and_the_pool_reads(loader, service, inline, told, tmp_path):
    inline.held = True
    loader.load("/a/image.png", 300, told.then, told.failed)
    assert service.last("pixels").params == PixelsRequest(path="/a/image.png", max_side=300)
    service.answer(written(tmp_path))
    assert told.images == [], "nothing is read on the window's thread"
    inline.go()
    assert told.images == [(5, 3)]


def test_the_newest_wins_and_files_of_the_others_are_deleted(loader, service, told, tmp_path):
    loader.load("one", None, told.then, told.failed)
    loader.load("two", None, told.then, told.failed)
    first = tmp_path / "first"
    first.mkdir()
    service.answer(written(first), call=1)
    assert told.images == []
    assert not (first / "pixels.raw").exists()
    service.answer(written(tmp_path, 8, 2), call=2)
    assert told.images == [(8, 2)]


def test_slots_do_not_disturb_each_other(loader, service, told, tmp_path):
    loader.load("one", None, told.then, slot="left")
    loader.load("two", None, told.then, slot="right")
    service.answer(written(tmp_path), call=1)
    service.answer(written(tmp_path, 8, 2), call=2)
    assert told.images == [(5, 3), (8, 2)]


@pytest.mark.parametrize("late", [False, True])
def test_what_was_dropped_is_never_told(loader, service, inline, told, tmp_path, late):
    inline.held = True
    handle = loader.load("one", None, told.then, told.failed)
    if late:
        service.answer(written(tmp_path))
        loader.drop(handle)
    else:
        loader.drop(handle)
        service.answer(written(tmp_path))
    inline.go()
    assert (told.images, told.failures) == ([], [])
    assert not (tmp_path / "pixels.raw").exists()


def test_failures_are_told_once(loader, service, told, tmp_path):
    loader.load("one", None, told.then, told.failed)
    service.fail("image_refused", "one is damaged")
    loader.load("two", None, told.then, told.failed)
    service.answer(pixels(_file(tmp_path, b"short"), 5, 3))
    assert [kind for kind, _ in told.failures] == ["image_refused", "image_refused"]
    assert "bytes instead of" in told.failures[1][1]
    loader.load("three", None, told.then)
    service.fail()
    assert len(told.failures) == 2


def test_the_failure_of_an_older_image_is_not_told(loader, service, told):
    loader.load("one", None, told.then, told.failed)
    loader.load("two", None, told.then, told.failed)
    service.fail(call=1)
    assert told.failures == []
    loader.drop_all()
    service.fail(call=2)
    assert told.failures == []
