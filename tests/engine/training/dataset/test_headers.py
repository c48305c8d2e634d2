"""Sizes from headers alone, and files whose end is missing."""

import io
import os
import random

import pytest
from PIL import Image

from mezzotint.errors import ImageRefused, StorageError
from mezzotint.images.reading import read_image
from mezzotint.training.dataset import headers
from mezzotint.training.dataset.headers import read_size

NOISE = Image.effect_noise((160, 120), 60).convert("RGB")


def saved(tmp_path, kind, image=NOISE, **how):
    path = tmp_path / f"noise.{kind}"
    image.save(path, **how)
    return path


@pytest.mark.parametrize("kind", ["png", "jpg", "webp", "tiff", "bmp", "gif"])
def test_sizes_of_every_format(tmp_path, kind):
    assert read_size(saved(tmp_path, kind)) == (160, 120)


def test_the_orientation_counts(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    assert read_size(saved(tmp_path, "jpg", exif=exif)) == (120, 160)


@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_a_file_that_was_cut_off_is_noticed_wherever_that_was(tmp_path, kind):
    path = saved(tmp_path, kind)
    whole = path.read_bytes()
    for length in range(1, len(whole) - 8, len(whole) // 40):
        path.write_bytes(whole[:length])
        with pytest.raises(ImageRefused):
            read_size(path)


def test_pictures_with_a_film_behind_them_are_whole(tmp_path):
    path = saved(tmp_path, "jpg")
    film = random.Random(0).randbytes(300_000).replace(b"\xff\xd9", b"")
    path.write_bytes(path.read_bytes() + film)
    assert read_size(path) == (160, 120)
    assert read_image(path).size == (160, 120)


def test_an_end_between_two_chunks_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(headers, "_CHUNK", 4)
    path = tmp_path / "end"
    for before in range(9):
        path.write_bytes(b"-" * before + b"IEND" + b"-" * 9)
        assert headers._contains_end(path, b"IEND")
    path.write_bytes(b"-" * 7 + b"IEN-D" + b"-" * 9)
    assert not headers._contains_end(path, b"IEND")


def test_a_disk_that_fails_behind_the_header(tmp_path, monkeypatch):
    path = saved(tmp_path, "png")
    real = open

    class Failing(io.BufferedReader):
        def seek(self, *where):
            raise OSError(5, os.strerror(5))

    def failing(name, mode="r", **how):
        return real(name, mode, **how) if how else Failing(io.FileIO(name))

    monkeypatch.setattr(headers, "open", failing, raising=False)
    with pytest.raises(StorageError, match="cannot read .*noise.png: the disk reports an error"):
        read_size(path)


def test_huge_images_are_refused_before_memory_is_taken(tmp_path):
    path = saved(tmp_path, "bmp", Image.new("1", (8, 8)))
    data = bytearray(path.read_bytes())
    data[18:26] = (10_100).to_bytes(4, "little") * 2
    path.write_bytes(data)
    with pytest.raises(ImageRefused, match="10100x10100 is 102 million pixels"):
        read_size(path)
