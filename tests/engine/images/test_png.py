"""Texts and profiles of PNG files are read within our limits, and named beyond them."""

import os
import struct
import zlib

import pytest
from colour_profiles import SWAPPED
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.images import png
from mezzotint.images.embedded import embedded_texts
from mezzotint.images.png import PROFILE, left_out, text_of
from mezzotint.images.reading import open_image, read_image, read_input

UMLAUTS = "Möwe über 東京"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def with_chunks(path, *chunks, after=b""):
    """A red image with chunks before its pixels, and others after them."""
    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * 2) * 2)
    path.write_bytes(
        png.SIGNATURE + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IDAT", rows) + after + chunk(b"IEND", b"")
    )
    return path


def info_of(path):
    """The texts of a file, and what is left out, once its pixels are read as well."""
    with open_image(path) as image:
        image.load()
        assert image.getpixel((1, 1)) == (255, 0, 0)
        return dict(image.info), left_out(image)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_text_in_utf_8_or_latin_1_is_read_wherever_it_is(tmp_path, encoding):
    text = UMLAUTS if encoding == "utf-8" else "Möwe"
    raw = text.encode(encoding)
    path = with_chunks(
        tmp_path / "a.png",
        chunk(b"tEXt", b"plain\0" + raw),
        chunk(b"zTXt", b"packed\0\0" + zlib.compress(raw)),
        chunk(b"iTXt", b"international\0\0\0\0\0" + raw),
        chunk(b"iTXt", b"both\0\1\0de\0\0" + zlib.compress(raw)),
        after=chunk(b"tEXt", b"late\0" + raw),
    )
    texts, unread = info_of(path)
    assert {texts[key] for key in ("plain", "packed", "international", "both", "late")} == {text} and not unread


def test_a_large_profile_is_applied(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (4, 4), "red").save(path, icc_profile=SWAPPED + os.urandom(2_000_000))
    with open_image(path) as image:
        assert len(image.info["icc_profile"]) > 2_000_000 and not left_out(image)


def test_what_exceeds_the_limits_is_named_and_the_image_read(tmp_path, monkeypatch):
    monkeypatch.setattr(png, "MAX_TEXT", 1000)
    monkeypatch.setattr(png, "MAX_PROFILE", 100)
    path, texts = tmp_path / "a.png", PngInfo()
    texts.add_text("workflow", "x" * 2000, zip=True)
    texts.add_itxt("notes", "y" * 2000, zip=True)
    texts.add_text("parameters", "short", zip=True)
    Image.new("RGB", (4, 4), "red").save(path, pnginfo=texts, icc_profile=SWAPPED)
    with open_image(path) as image:
        assert left_out(image).keys() == {"workflow", "notes", PROFILE}
        found = embedded_texts(image)
    assert found.chunks == {"parameters": "short"}
    assert found.note is not None and "its workflow is left out (of more than 0 MB)" in found.note
    said = []
    assert read_input(path).take(said.append).getpixel((0, 0)) == (255, 0, 0)
    assert "its colour profile" in said[0]


def test_a_chunk_that_is_too_long_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(png._LIMITED, b"tEXt", 1000)
    monkeypatch.setitem(png._LIMITED, b"iCCP", 1000)
    path = with_chunks(
        tmp_path / "a.png", chunk(b"tEXt", b"k\0" + b"x" * 2000), chunk(b"iCCP", b"p\0\0" + os.urandom(2000))
    )
    texts, unread = info_of(path)
    assert "k" not in texts and unread.keys() == {"tEXt", PROFILE}


def test_many_texts_are_read_up_to_a_sum(tmp_path, monkeypatch):
    monkeypatch.setattr(png, "MAX_TEXTS", 1000)
    texts, unread = info_of(
        with_chunks(tmp_path / "a.png", *(chunk(b"tEXt", b"k%d\0" % number + b"x" * 400) for number in range(4)))
    )
    assert {"k0", "k1"} <= texts.keys() and unread.keys() == {"k2", "k3"}


@pytest.mark.parametrize("size", [1 << 10, 1 << 14])
@pytest.mark.parametrize(("kind", "before"), [(b"zTXt", b"\0\0"), (b"iTXt", b"\0\1\0\0\0")])
def test_beyond_the_sum_no_text_is_unpacked(tmp_path, monkeypatch, kind, before, size):
    monkeypatch.setattr(png, "MAX_TEXT", 4 << 10)
    monkeypatch.setattr(png, "MAX_TEXTS", 8 << 10)
    unpacked = []
    unpack = png._decompressed
    monkeypatch.setattr(png, "_decompressed", lambda data, limit: unpacked.append(limit) or unpack(data, limit))
    data = zlib.compress(bytes(size), 9)
    _, unread = info_of(
        with_chunks(tmp_path / "a.png", *(chunk(kind, b"k%d" % number + before + data) for number in range(50)))
    )
    assert len(unpacked) <= 9 and "k49" in unread


def test_of_several_profiles_one_is_unpacked(tmp_path, monkeypatch):
    unpacked = []
    unpack = png._decompressed
    monkeypatch.setattr(png, "_decompressed", lambda data, limit: unpacked.append(limit) or unpack(data, limit))
    profile = chunk(b"iCCP", b"p\0\0" + zlib.compress(bytes(1000)))
    info_of(with_chunks(tmp_path / "a.png", *([profile] * 20)))
    assert len(unpacked) == 1


def test_damaged_texts_and_profiles_are_named(tmp_path):
    texts, unread = info_of(
        with_chunks(
            tmp_path / "a.png",
            chunk(b"zTXt", b"other method\0\7" + b"x"),
            chunk(b"zTXt", b"no data\0\0zzz"),
            chunk(b"iTXt", b"damaged\0\1\0\0\0zzz"),
            chunk(b"iCCP", b"p\0\0zzz"),
        )
    )
    assert unread == dict.fromkeys(("other method", "no data", "damaged", PROFILE), "damaged")
    assert texts["icc_profile"] is None


def test_texts_cannot_pose_as_what_pillow_acts_on(tmp_path):
    path = with_chunks(
        tmp_path / "a.png", chunk(b"tEXt", b"transparency\0x"), chunk(b"tEXt", b"\0x"), chunk(b"tEXt", b"exif\0MM")
    )
    texts, _ = info_of(path)
    assert "transparency" not in texts and texts["exif"] == b"MM"
    assert read_image(path).getpixel((0, 0)) == (255, 0, 0)


def test_xmp_is_kept_as_bytes(tmp_path):
    texts, _ = info_of(with_chunks(tmp_path / "a.png", chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x/>")))
    assert texts["xmp"] == b"<x/>"


def test_text_of_any_bytes():
    assert (text_of("é".encode()), text_of(b"\xe9"), text_of(b"")) == ("é", "é", "")
