"""What is read of an image for the index, whatever the file holds."""

import os
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_images import SIZE, write_own
from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.library.gallery.reading import MAX_PROMPT, folded, read_facts
from mezzotint.library.gallery.walk import FileStamp


def facts(path):
    return read_facts(path, FileStamp(changed=1, bytes=path.stat().st_size if path.is_file() else 0))


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_an_image_of_ours(tmp_path, suffix):
    found = facts(write_own(tmp_path / f"A Name.{suffix}", prompt="A Red Barn", model="XL", seed=9))
    assert (found.width, found.height) == SIZE
    assert (found.prompt, found.model, found.seed) == ("A Red Barn", "XL", 9)
    assert found.words == f"a red barn\nxl\na name.{suffix}" and found.content.startswith("pixels:")


def test_foreign_images_are_known_by_their_ends(tmp_path):
    image = Image.effect_noise((400, 400), 90)
    contents = []
    for name, colour in (("a", 1), ("b", 1), ("c", 2)):
        image.putpixel((0, 0), colour)
        image.putpixel((399, 399), colour)
        image.save(tmp_path / f"{name}.png")
        contents.append(facts(tmp_path / f"{name}.png").content)
    assert contents[0] == contents[1] != contents[2]
    assert contents[0].startswith("file:")


def test_a_record_that_claims_no_sum_is_known_by_its_file(tmp_path):
    path = write_own(tmp_path / "a.png")
    data = path.read_bytes()
    pixels = facts(path).content.removeprefix("pixels:")
    assert data.count(pixels.encode()) > 0
    broken = data.replace(pixels.encode(), b"z" * 64)
    path.write_bytes(broken)
    assert facts(path) is None or facts(path).content.startswith("file:")


def test_turned_images_have_the_size_they_are_seen_in(tmp_path):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    for suffix in ("jpg", "png", "webp", "tiff"):
        Image.new("RGB", (30, 20)).save(tmp_path / f"a.{suffix}", exif=exif)
        assert (suffix, facts(tmp_path / f"a.{suffix}").width) == (suffix, 20)


def test_huge_and_odd_prompts_are_bounded_and_stored(tmp_path):
    texts = PngInfo()
    prompt = "<img src=file:///etc/passwd>\u202e\0\x1b[31m" + "long " * 40_000
    texts.add_itxt("parameters", f"{prompt}\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 5, Size: 8x8, Model: \0m")
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png", pnginfo=texts)
    found = facts(tmp_path / "a.png")
    assert len(found.prompt) <= MAX_PROMPT and found.prompt.startswith("<img src=")
    assert len(found.words) < 20_000 and "\0" not in found.prompt + found.words + found.model


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks, size=(9, 9)):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0))
    rows = zlib.compress(bytes((size[0] + 1) * size[1])) if size[0] < 1000 else b""
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


BOMB = chunk(b"zTXt", b"parameters\0\0" + zlib.compress(bytes(100 << 20)))
HOSTILE = {
    "a bomb in a text": png(BOMB),
    "a hundred bombs": png(*[chunk(b"iTXt", b"a\0\1\0\0\0" + zlib.compress(bytes(1 << 20)))] * 100),
    "400 million pixels": png(size=(20_000, 20_000)),
    "nested json": png(chunk(b"tEXt", b"prompt\0" + b"[" * 10_000)),
    "nested record": png(chunk(b"tEXt", b"mezzotint\0" + b'{"a":' * 10_000)),
    "cut": png()[:40],
    "empty": b"",
    "text": b"a barn",
    "tiff in a png": b"II*\0\xff\xff\xff\xff",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_give_facts_or_none(tmp_path, name):
    path = tmp_path / "a.png"
    path.write_bytes(HOSTILE[name])
    found = facts(path)
    assert found is None or (found.width, found.height) == (9, 9)


@given(st.binary(max_size=400), st.integers(0, 400))
def test_any_bytes(tmp_path_factory, data, place):
    path = tmp_path_factory.mktemp("any") / "a.png"
    whole = png(chunk(b"tEXt", b"parameters\0a barn\nSteps: 20"))
    path.write_bytes(whole[:place] + data + whole[place:])
    assert facts(path) is None or facts(path).content


def test_what_is_no_file(tmp_path):
    assert facts(tmp_path / "absent.png") is None
    (tmp_path / "folder.png").mkdir()
    assert facts(tmp_path / "folder.png") is None
    if os.name != "nt":
        os.mkfifo(tmp_path / "pipe.png")
        assert facts(tmp_path / "pipe.png") is None


@given(st.text(max_size=40))
def test_folding_is_done_once(text):
    assert folded(folded(text)) == folded(text)
    folded(text).encode()
