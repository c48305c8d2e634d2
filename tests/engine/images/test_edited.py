"""Edited copies keep what other programs said, and leave out what is broken."""

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.images.edited import read_source, write_edited
from mezzotint.images.encoding import RECORD_KEYWORD
from mezzotint.protocol import Output


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
@pytest.mark.parametrize("exif", [b"", b"Exif\x00\x00no TIFF at all"])
def test_broken_exif_is_left_out_in_any_format(tmp_path, suffix, exif):
    path, named = tmp_path / "theirs.jpg", Image.Exif()
    named[271] = "a camera"
    Image.new("RGB", (8, 6), "red").save(path, exif=exif or named)
    source = read_source(path)
    assert source.record is None and bool(source.exif) is not bool(exif)
    made = write_edited(source.image, tmp_path / f"copy{suffix}", source, lambda record: record, Output())
    with Image.open(made) as copy:
        assert (copy.size, copy.getexif().get(271)) == ((8, 6), None if exif else "a camera")


def test_a_broken_record_of_ours_is_none(tmp_path):
    texts = PngInfo()
    texts.add_itxt(RECORD_KEYWORD, '{"request": 3}')
    Image.new("RGB", (8, 6)).save(tmp_path / "ours.png", pnginfo=texts)
    assert read_source(tmp_path / "ours.png").record is None


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_without_metadata_a_copy_says_nothing(tmp_path, suffix):
    path, named = tmp_path / "theirs.png", Image.Exif()
    named[271] = "a camera"
    texts = PngInfo()
    texts.add_text("parameters", "a house, from /home/someone")
    Image.new("RGB", (8, 6), "red").save(path, exif=named, pnginfo=texts)
    source = read_source(path)
    copy = write_edited(source.image, tmp_path / f"a{suffix}", source, lambda one: one, Output(metadata="none"))
    assert not any(words in copy.read_bytes() for words in (b"camera", b"someone", b"digitalsourcetype"))
