"""Thumbnails: made once, kept while the image is the same, tidied when they are too many."""

import os
import threading
import time
from pathlib import Path

import pytest
from PIL import Image

from mezzotint.atomic import TEMPORARY_PREFIX
from mezzotint.errors import Cancelled, ImageRefused, StorageError, UsageError
from mezzotint.library import thumbnails
from mezzotint.library.thumbnails import Thumbnails, tidy
from mezzotint.library_protocol import ThumbnailRequest
from mezzotint.paths import cache_folder


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGBA", (600, 300), (255, 0, 0, 128)).save(path)
    return path


@pytest.fixture
def decoded(monkeypatch):
    """The paths that were decoded."""
    paths = []
    real = thumbnails.decode_image

    def counting(path, *rest):
        paths.append(path)
        return real(path, *rest)

    monkeypatch.setattr(thumbnails, "decode_image", counting)
    return paths


def kept():
    return [path for path in (cache_folder() / "thumbnails").rglob("*") if path.is_file()]


def test_a_jpeg_of_the_asked_size_on_white(source):
    found = Thumbnails().get(ThumbnailRequest(path=str(source), side=128))
    path = Path(found.path)
    assert (found.width, found.height) == (128, 64)
    assert path.parent.name == path.name[:2] and path.parent.parent == cache_folder() / "thumbnails"
    with Image.open(path) as image:
        assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (128, 64))
        assert image.getpixel((60, 30))[1] > 100
    assert kept() == [path]


def test_it_is_made_once_for_each_state_and_size(source, decoded):
    made = Thumbnails()
    first = made.get(ThumbnailRequest(path=str(source)))
    assert Thumbnails().get(ThumbnailRequest(path=str(source))) == first and len(decoded) == 1
    made.get(ThumbnailRequest(path=str(source), side=64))
    assert len(decoded) == 2
    Image.new("RGB", (50, 100)).save(source)
    changed = made.get(ThumbnailRequest(path=str(source)))
    assert (changed.width, changed.height) == (50, 100) and changed.path != first.path


@pytest.mark.parametrize("damage", [b"", b"\xff\xd8\xff", b"x" * 500])
def test_a_damaged_one_is_made_again(source, decoded, damage):
    first = Thumbnails().get(ThumbnailRequest(path=str(source)))
    Path(first.path).write_bytes(damage)
    assert Thumbnails().get(ThumbnailRequest(path=str(source))) == first and len(decoded) == 2
    with Image.open(first.path) as image:
        image.load()


def test_a_failure_is_remembered_until_the_file_changes(tmp_path, decoded):
    path = tmp_path / "bad.png"
    path.write_bytes(b"no image")
    made = Thumbnails()
    told = set()
    for _ in range(3):
        with pytest.raises(ImageRefused) as caught:
            made.get(ThumbnailRequest(path=str(path)))
        told.add(str(caught.value))
    assert len(told) == 1 and len(decoded) == 1 and kept() == []
    Image.new("RGB", (5, 5)).save(path)
    assert made.get(ThumbnailRequest(path=str(path))).width == 5


def test_what_the_machine_lacked_is_not_remembered(source, monkeypatch):
    made = Thumbnails()
    real = thumbnails.decode_image

    def short(*_):
        raise ImageRefused("too little memory") from MemoryError()

    monkeypatch.setattr(thumbnails, "decode_image", short)
    with pytest.raises(ImageRefused):
        made.get(ThumbnailRequest(path=str(source)))
    monkeypatch.setattr(thumbnails, "decode_image", real)
    assert made.get(ThumbnailRequest(path=str(source))).width == 256


def test_errors(tmp_path, source, monkeypatch):
    for path in (tmp_path / "absent.png", "a\0b"):
        with pytest.raises(StorageError):
            Thumbnails().get(ThumbnailRequest(path=str(path)))
    for side in (0, -1, 5000):
        with pytest.raises(UsageError):
            Thumbnails().get(ThumbnailRequest(path=str(source), side=side))
    with pytest.raises(Cancelled):
        Thumbnails().get(ThumbnailRequest(path=str(source)), lambda: True)
    monkeypatch.setenv("MEZZOTINT_CACHE", str(source))
    with pytest.raises(StorageError, match="cannot write"):
        Thumbnails().get(ThumbnailRequest(path=str(source)))


def test_the_least_recently_used_go(tmp_path):
    made = Thumbnails()
    found = []
    for number in range(10):
        path = tmp_path / f"{number}.png"
        Image.effect_noise((256, 256), 50 + number).save(path)
        found.append(Path(made.get(ThumbnailRequest(path=str(path))).path))
        os.utime(found[-1], (1000 * (number + 1),) * 2)
    made.get(ThumbnailRequest(path=str(tmp_path / "0.png")))  # used again, so it is the last to go
    total = sum(path.stat().st_size for path in found)
    tidy(total)
    assert all(path.exists() for path in found)
    tidy(total - 1)
    left = [number for number, path in enumerate(found) if path.exists()]
    assert left[0] == 0 and left[1:] == list(range(10 - len(left) + 1, 10)) and 5 < len(left) < 10


def test_halves_of_a_process_that_died_go(source):
    path = Path(Thumbnails().get(ThumbnailRequest(path=str(source))).path)
    old, new = (path.parent / f"{TEMPORARY_PREFIX}{name}.part" for name in ("old", "new"))
    for half in (old, new):
        half.write_bytes(b"x")
    os.utime(old, (1000, 1000))
    tidy(1 << 30)
    assert kept() and path.exists() and new.exists() and not old.exists()
    tidy(0)
    assert new.exists() and not path.exists()  # what another thread is writing just now is no use to remove


def test_the_whole_stays_bounded(tmp_path, monkeypatch):
    made = Thumbnails(most_bytes=30_000, tidy_every=5)
    for number in range(30):
        path = tmp_path / f"{number}.png"
        Image.effect_noise((256, 256), 80).save(path)
        thumbnail = Path(made.get(ThumbnailRequest(path=str(path), side=128)).path)
        os.utime(thumbnail, (time.time() - 1000 + number,) * 2)
    largest = max(path.stat().st_size for path in kept())
    assert sum(path.stat().st_size for path in kept()) <= 30_000 + 5 * largest


def test_several_threads_at_once(tmp_path):
    made = Thumbnails(most_bytes=10_000, tidy_every=2)
    errors = []

    def work(number):
        try:
            path = tmp_path / f"{number % 3}.png"
            for side in (16, 64, 128):
                made.get(ThumbnailRequest(path=str(path), side=side))
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    for number in range(3):
        Image.effect_noise((200, 200), 60).save(tmp_path / f"{number}.png")
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
