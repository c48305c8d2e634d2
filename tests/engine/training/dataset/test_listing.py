"""What is found in a folder, and what is left out of it."""

import os
import shutil
import sys
import unicodedata
from pathlib import Path

import pytest

from mezzotint.errors import Cancelled, UsageError
from mezzotint.training.dataset import listing
from mezzotint.training.dataset.listing import is_regularization, key_of, list_files, repeats_of


@pytest.fixture
def names(folder):
    def listed():
        return [path.relative_to(folder).as_posix() for path in list_files(folder, lambda: False).images]

    return listed


def test_images_in_order_without_what_is_hidden(folder, put, names):
    for name in ("b.png", "a.JPG", "c/a.webp", "c/d/e.bmp", ".hidden.png", ".thumbs/a.png"):
        put(name, None)
    (folder / "notes.md").write_text("no image")
    assert names() == ["a.JPG", "b.png", "c/a.webp", "c/d/e.bmp"]


@pytest.mark.parametrize(
    ("name", "repeats"),
    [
        ("a.png", 1),
        ("10_castle/a.png", 10),
        ("10_castle/more/a.png", 10),
        ("10_castle/3_tower/a.png", 3),
        ("10_a.png", 1),
        ("10/a.png", 1),
        ("10_/a.png", 1),
        ("castle_10/a.png", 1),
        ("1000_castle/a.png", 1000),
        ("2024_summer/a.png", 1),
        ("20240809_summer/a.png", 1),
        ("reg/1_castle/a.png", 1),
        ("0_off/a.png", 0),
    ],
)
def test_repeats_by_the_folders_name(name, repeats):
    assert repeats_of(Path(name)) == repeats


@pytest.mark.parametrize(
    ("name", "is_one"), [("reg/a.png", True), ("Reg/1_x/a.png", True), ("x/reg/a.png", False), ("reg.png", False)]
)
def test_regularization_images_are_in_reg(name, is_one):
    assert is_regularization(Path(name)) == is_one


def test_accents_match_however_they_are_encoded():
    assert key_of(Path("x", unicodedata.normalize("NFD", "é"))) == key_of(Path("x", unicodedata.normalize("NFC", "é")))


def test_folders_that_look_like_years_or_repeat_nothing_are_told(put, told, names):
    put("2024_summer/a.png")
    put("0_off/b.png")
    assert told("2024_summer") == ["2024_summer is not read as 2024 repeats (at most 1000); its images count as usual"]
    assert told("0_off") == ["0_off asks for 0 repeats: its images are left out; rename it to 1_... to use them"]
    assert told("0_off/b.txt") == []
    assert names() == ["2024_summer/a.png"]


def test_formats_that_cannot_be_read_are_told(folder, told):
    (folder / "a.HEIC").write_bytes(b"")
    assert told("a.HEIC", "warning") == ["a.HEIC is left out: .heic images cannot be read; convert it to PNG or JPEG"]


# ---- links


@pytest.fixture
def link(folder):
    def make(name, to):
        (folder / name).symlink_to(to)

    return make


def test_links_out_of_the_folder_are_refused(folder, put, told, names, link, tmp_path):
    outside = put("a.png").rename(tmp_path / "outside.png")
    link("b.png", outside)
    link("c.png", "../outside.png")
    link("d", tmp_path)
    link("e.txt", "/etc/hostname")
    assert names() == []
    for name in ("b.png", "c.png", "d", "e.txt"):
        assert told(name, "error") == [
            f"{name} is a link that leads out of the folder, and is left out: copy what it leads to"
        ]


def test_links_inside_the_folder(put, told, names, link):
    put("sub/a.png")
    link("b.png", "sub/a.png")
    link("loop", ".")
    assert names() == ["b.png", "sub/a.png"]
    assert told("loop", "warning") == ["loop is a link to a folder, which is not followed: choose that folder itself"]


def test_a_link_to_nothing_is_an_error(put, told, link):
    put("a.png")
    link("b.png", "gone.png")
    link("c.png", "c.png")
    assert len(told("b.png", "error")) == len(told("c.png", "error")) == 1


def test_the_folder_itself_may_be_a_link(folder, put, tmp_path):
    put("a.png")
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert list_files(link, lambda: False).images == [link / "a.png"]


# ---- bounds


def test_folders_are_not_read_without_end(put, told, names, monkeypatch):
    monkeypatch.setattr(listing, "MAX_DEPTH", 2)
    put("1/2/a.png")
    put("1/2/3/b.png")
    assert names() == ["1/2/a.png"]
    assert told("1/2/3", "warning") == [f"{Path('1/2/3')} is not read: folders are nested more than 2 deep"]


def test_too_many_files_are_refused(put, names, monkeypatch):
    monkeypatch.setattr(listing, "MAX_FILES", 3)
    for number in range(3):
        put(f"{number}.png", None)
    assert len(names()) == 3
    put("4.png", None)
    with pytest.raises(UsageError, match="contains more than 3 files: choose a folder of training images"):
        names()


def test_it_can_be_stopped(folder):
    with pytest.raises(Cancelled):
        list_files(folder, lambda: True)


def test_a_folder_that_cannot_be_read_is_an_error(folder, put, told, monkeypatch):
    put("a.png")
    put("sub/b.png")
    real = os.scandir

    def failing(path):
        if Path(path).name == "sub":
            raise PermissionError(13, "no")
        return real(path)

    monkeypatch.setattr(listing.os, "scandir", failing)
    (message,) = told("sub", "error")
    assert message.startswith("sub cannot be read: no permission")


@pytest.mark.skipif(sys.platform != "linux", reason="no file has such a name")
def test_names_that_are_no_text_are_errors(folder, put, told):
    shutil.copy(put("a.png", None), os.fsencode(folder) + b"/\xff.png")
    assert any("its name is not valid Unicode; rename it" in message for message in told(severity="error"))
