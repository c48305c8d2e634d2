import errno
import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from mezzotint import atomic
from mezzotint.errors import StorageError
from mezzotint.images import writing
from mezzotint.images.metadata import read_metadata
from mezzotint.images.record import ImageRecord, record_from_json
from mezzotint.images.writing import pixels_sha256, require_folder, write_image, write_png, write_preview

MakeRecord = Callable[..., ImageRecord]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_image_alone(tmp_path: Path, pixels: Image.Image) -> None:
    made = [write_png(pixels, tmp_path / "a.png", overwrite=False) for _ in range(2)]
    assert [path.name for path in made] == ["a.png", "a-1.png"]
    assert Image.open(made[0]).tobytes() == pixels.tobytes()


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".jpeg", ".webp", ".PNG"])
def test_what_is_there_is_kept(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord, suffix: str) -> None:
    wanted = tmp_path / f"a{suffix}"
    paths = [write_image(pixels, wanted, make_record(), overwrite=False) for _ in range(3)]
    assert [path.name for path in paths] == [f"a{suffix}", f"a-1{suffix}", f"a-2{suffix}"]
    assert names(tmp_path) == sorted(path.name for path in paths)


def test_overwriting_keeps_the_name(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord) -> None:
    wanted = tmp_path / "a.png"
    wanted.write_bytes(b"old")
    assert write_image(pixels, wanted, make_record(), overwrite=True) == wanted
    assert pixels_sha256(Image.open(wanted)) == pixels_sha256(pixels)
    assert names(tmp_path) == ["a.png"]


def test_missing_folders_are_made(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord) -> None:
    assert write_image(pixels, tmp_path / "b" / "c" / "a.png", make_record(), overwrite=False).is_file()


def test_the_record_names_the_file_it_is_in(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord) -> None:
    for _ in range(2):
        path = write_image(pixels, tmp_path / "a.png", make_record(), overwrite=False)
        with Image.open(path) as image:
            assert record_from_json(image.info["mezzotint"]).image.path == path.name


def test_writers_at_once_all_get_a_name(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord) -> None:
    record = make_record()
    with ThreadPoolExecutor(6) as pool:
        paths = list(pool.map(lambda _: write_image(pixels, tmp_path / "a.png", record, overwrite=False), range(6)))
    assert len(set(paths)) == 6
    assert names(tmp_path) == sorted(path.name for path in paths)
    assert all(read_metadata(path).request == record.request for path in paths)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, pixels: Image.Image, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a.png").write_bytes(b"old")
    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(StorageError, match="disk is full"):
        write_image(pixels, tmp_path / "a.png", make_record(), overwrite=overwrite)
    assert names(tmp_path) == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"old"


def test_a_folder_that_cannot_be_made(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="create the folder"):
        write_image(pixels, tmp_path / "file" / "a.png", make_record(), overwrite=False)


def test_a_name_too_long_is_told(tmp_path: Path, pixels: Image.Image, make_record: MakeRecord) -> None:
    with pytest.raises(StorageError, match="too long"):
        write_image(pixels, tmp_path / f"{'a' * 300}.png", make_record(), overwrite=False)
    assert names(tmp_path) == []


def test_previews_are_numbered_and_kept(tmp_path: Path) -> None:
    paths = [write_preview(b"jpeg", tmp_path / "p", image=0, stage=1, step=3) for _ in range(2)]
    assert [path.name for path in paths] == ["preview-01-2-003.jpg", "preview-01-2-003-1.jpg"]
    assert paths[0].read_bytes() == b"jpeg"


def test_previews_know_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = write_preview(b"jpeg", Path("~/p"), image=0, stage=0, step=1)
    assert path == tmp_path / "p" / "preview-01-1-001.jpg" and path.is_file()


def test_the_hash_is_of_the_pixels_row_by_row() -> None:
    image = Image.new("RGB", (2, 2))
    image.putdata([(1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12)])
    assert pixels_sha256(image) == hashlib.sha256(bytes(range(1, 13))).hexdigest()
    assert pixels_sha256(image.convert("RGBA")) == pixels_sha256(image)


def test_when_every_name_is_taken_it_is_told(
    tmp_path: Path, pixels: Image.Image, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_MOST_TWINS", 3)
    for _ in range(3):
        write_image(pixels, tmp_path / "a.png", make_record(), overwrite=False)
    with pytest.raises(StorageError, match=r"no free name is left next to .*a\.png"):
        write_image(pixels, tmp_path / "a.png", make_record(), overwrite=False)
    assert names(tmp_path) == ["a-1.png", "a-2.png", "a.png"]


def test_a_required_folder_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    require_folder(None)
    require_folder(str(tmp_path))
    with pytest.raises(StorageError, match="is gone: connect its disk again"):
        require_folder(str(tmp_path / "disk" / ".mezzotint"))
    assert list(tmp_path.iterdir()) == []
