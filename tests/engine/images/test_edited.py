"""Edited copies keep what other programs said, and leave out what is broken."""

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.images import edited
from mezzotint.images.edited import read_source, write_edited
from mezzotint.images.encoding import RECORD_KEYWORD
from mezzotint.protocol import Output


def same(record):
    """A record that stays as it is."""
    return record


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
@pytest.mark.parametrize("exif", [b"", b"Exif\x00\x00no TIFF at all"])
def test_broken_exif_is_left_out_in_any_format(tmp_path, suffix, exif):
    path, named = tmp_path / "theirs.jpg", Image.Exif()
    named[271] = "a camera"
    Image.new("RGB", (8, 6), "red").save(path, exif=exif or named)
    said = []
    source = read_source(path).take(said.append)
    assert source.record is None and bool(source.exif) is not bool(exif)
    assert ["its EXIF (damaged" in one for one in said] == [True] * bool(exif)
    made = write_edited(source.image, tmp_path / f"copy{suffix}", source, same, said.append, Output())
    with Image.open(made) as copy:
        assert (copy.size, copy.getexif().get(271)) == ((8, 6), None if exif else "a camera")


def test_a_broken_record_of_ours_is_none(tmp_path):
    texts = PngInfo()
    texts.add_itxt(RECORD_KEYWORD, '{"request": 3}')
    Image.new("RGB", (8, 6)).save(tmp_path / "ours.png", pnginfo=texts)
    said = []
    assert read_source(tmp_path / "ours.png").take(said.append).record is None
    assert "not used: its record (damaged)" in said[0]


def test_texts_beyond_the_limit_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(edited, "_MAX_TEXT", 10)
    texts = PngInfo()
    texts.add_text("short", "123")
    texts.add_text("long", "x" * 20)
    Image.new("RGB", (8, 6)).save(tmp_path / "a.png", pnginfo=texts)
    said = []
    assert read_source(tmp_path / "a.png").take(said.append).texts == {"short": "123"}
    assert "not used: its text long" in said[0]


@pytest.mark.parametrize(("suffix", "lost"), [(".png", 0), (".webp", 1), (".jpg", 2)])
def test_what_a_format_cannot_hold_is_told(tmp_path, suffix, lost):
    texts, said = PngInfo(), []
    texts.add_text("workflow", "{}")
    Image.new("LA", (8, 6), (50, 0)).save(tmp_path / "a.png", pnginfo=texts)
    source = read_source(tmp_path / "a.png").take(said.append)
    assert source.image.mode == "RGBA" and said == []
    made = write_edited(source.image, tmp_path / f"b{suffix}", source, same, said.append, Output())
    with Image.open(made) as copy:
        assert copy.mode == ("RGB" if suffix == ".jpg" else "RGBA")
        assert copy.mode == "RGBA" or min(copy.getpixel((2, 2))) > 250  # white, not what is behind it
    assert len(said) == lost and (lost == 0 or "workflow" in said[-1])
    assert lost < 2 or "JPEG has no transparency" in said[0]


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_without_metadata_a_copy_says_nothing(tmp_path, suffix):
    path, named = tmp_path / "theirs.png", Image.Exif()
    named[271] = "a camera"
    texts = PngInfo()
    texts.add_text("parameters", "a house, from /home/someone")
    Image.new("RGB", (8, 6), "red").save(path, exif=named, pnginfo=texts)
    source = read_source(path).take(lambda _: None)
    said: list[str] = []
    copy = write_edited(source.image, tmp_path / f"a{suffix}", source, same, said.append, Output(metadata="none"))
    assert not any(words in copy.read_bytes() for words in (b"camera", b"someone", b"digitalsourcetype"))
