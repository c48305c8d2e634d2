"""Pixels in private files, whose leftovers go."""

import errno
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.errors import ImageRefused, StorageError, UsageError
from mezzotint.library.pixels import PixelFiles
from mezzotint.library_protocol import PixelsRequest
from mezzotint.paths import cache_folder


@given(st.integers(1, 40), st.integers(1, 40), st.booleans(), st.none() | st.integers(1, 50))
def test_the_file_holds_the_rows(tmp_path_factory, width, height, clear, max_side):
    path = tmp_path_factory.mktemp("images") / "a.png"
    values = np.random.default_rng(width).integers(1, 255, (height, width, 4 if clear else 3), dtype=np.uint8)
    Image.fromarray(values).save(path)
    files = PixelFiles()
    pixels = files.write(PixelsRequest(path=str(path), max_side=max_side))
    assert (pixels.image_width, pixels.image_height) == (width, height)
    assert max(pixels.width, pixels.height) <= max(width, height, 1) and pixels.bytes_per_line == pixels.width * (
        3 + clear
    )
    assert pixels.layout == ("rgba" if clear else "rgb")
    raw = np.frombuffer(Path(pixels.path).read_bytes(), dtype=np.uint8)
    rows = raw.reshape(pixels.height, pixels.width, 3 + clear)
    if max_side is None or max_side >= max(width, height):
        assert np.array_equal(rows, values)
    else:
        assert max(pixels.width, pixels.height) == max_side
    files.close()
    assert not Path(pixels.path).exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows gives files of a profile to their owner alone")
def test_nobody_else_reads_them(tmp_path):
    (cache_folder() / "pixels").mkdir(0o755, parents=True)
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    path = Path(PixelFiles().write(PixelsRequest(path=str(tmp_path / "a.png"))).path)
    for folder in (path.parent, path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_an_ended_process_left_is_removed(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    root = cache_folder() / "pixels"
    for name in ("11", "12", "no number"):
        (root / name).mkdir(parents=True)
        (root / name / "x.rgb").write_bytes(b"x")
    PixelFiles(is_running=lambda process: process == 12).write(PixelsRequest(path=str(tmp_path / "a.png")))
    assert {folder.name for folder in root.iterdir()} == {"12", str(os.getpid())}


def test_a_folder_that_was_cleaned_away_is_made_again(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    files = PixelFiles()
    first = Path(files.write(PixelsRequest(path=str(tmp_path / "a.png"))).path)
    first.unlink()
    first.parent.rmdir()
    assert Path(files.write(PixelsRequest(path=str(tmp_path / "a.png"))).path).stat().st_size == 48


def test_errors(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"no image")
    with pytest.raises(ImageRefused):
        PixelFiles().write(PixelsRequest(path=str(tmp_path / "a.png")))
    with pytest.raises(UsageError):
        PixelFiles().write(PixelsRequest(path=str(tmp_path / "a.png"), max_side=0))
    Image.new("RGB", (4, 4)).save(tmp_path / "b.png")
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEZZOTINT_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="create the folder"):
        PixelFiles().write(PixelsRequest(path=str(tmp_path / "b.png")))


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    files = PixelFiles()
    folder = Path(files.write(PixelsRequest(path=str(tmp_path / "a.png"))).path).parent
    before = set(folder.iterdir())

    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def write(self, _):
            raise OSError(errno.ENOSPC, "full")

    def full(handle, _):
        os.close(handle)
        return Full()

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(StorageError, match="the disk is full"):
        files.write(PixelsRequest(path=str(tmp_path / "a.png")))
    monkeypatch.undo()
    assert set(folder.iterdir()) == before
