"""Images of every kind come out upright, in sRGB, RGB or RGBA."""

import io
import struct
import zlib
from functools import partial

import numpy as np
import pytest
from colour_profiles import LINEAR_GREY, SWAPPED
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image

from mezzotint.errors import Cancelled, ImageRefused
from mezzotint.library import decoding
from mezzotint.library.decoding import decode_image

ORANGE = (230, 120, 20)
MODES = {
    "RGB": ("png", "jpg", "webp", "tiff", "bmp"),
    "RGBA": ("png", "webp", "tiff"),
    "L": ("png", "jpg", "tiff", "gif"),
    "LA": ("png", "tiff"),
    "P": ("png", "gif", "tiff", "bmp"),
    "CMYK": ("jpg", "tiff"),
    "1": ("png", "tiff"),
    "I;16": ("png", "tiff"),
    "F": ("tiff",),
    "YCbCr": ("jpg", "tiff"),
}


@pytest.mark.parametrize(("mode", "suffix"), [(mode, suffix) for mode, all_of in MODES.items() for suffix in all_of])
@pytest.mark.parametrize("max_side", [None, 16])
def test_every_mode_of_every_format(tmp_path, mode, suffix, max_side):
    plain = Image.new("RGB", (64, 40), "white")
    source = Image.new(mode, plain.size, 65535) if mode == "I;16" else plain.convert(mode)
    source.save(tmp_path / f"image.{suffix}")
    image, size = decode_image(tmp_path / f"image.{suffix}", max_side)
    assert size == (64, 40)
    assert image.size == ((64, 40) if max_side is None else (16, 10))
    transparent = mode in ("RGBA", "LA")
    assert image.mode == ("RGBA" if transparent else "RGB") or (suffix == "webp" and image.mode == "RGB")
    assert np.asarray(image)[..., :3].min() >= 250


def test_transparency_stays_and_scales_without_fringes(tmp_path):
    source = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    source.paste((255, 0, 0, 255), (0, 0, 32, 64))
    source.save(tmp_path / "half.png")
    image, _ = decode_image(tmp_path / "half.png", 9)
    pixels = np.asarray(image).astype(int)
    assert image.mode == "RGBA" and 0 < pixels[0, 4, 3] < 255
    assert pixels[pixels[..., 3] > 0][:, 0].min() >= 250  # black of the transparent half has not bled in


def test_a_palette_with_a_transparent_colour(tmp_path):
    source = Image.new("RGB", (8, 8), ORANGE).quantize(4)
    source.save(tmp_path / "palette.png", transparency=source.getpixel((0, 0)))
    image, _ = decode_image(tmp_path / "palette.png", None)
    assert image.mode == "RGBA" and image.getpixel((0, 0))[3] == 0


@given(st.integers(1, 8), st.sampled_from(["jpg", "png", "webp", "tiff"]), st.sampled_from([None, 20, 300]))
def test_orientation_is_applied_once(tmp_path_factory, orientation, suffix, max_side):
    path = tmp_path_factory.mktemp("turned") / f"image.{suffix}"
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    source = Image.new("RGB", (96, 48), "white")
    source.paste("black", (0, 0, 48, 48))
    source.save(path, exif=exif)
    image, size = decode_image(path, max_side)
    assert size == ((96, 48) if orientation < 5 else (48, 96))
    assert (image.width > image.height) == (orientation < 5)
    dark = np.asarray(image.convert("L")) < 128
    middle = dark[dark.shape[0] // 4, dark.shape[1] // 4]
    assert middle == (orientation in (1, 4, 5, 6))


# ---- profiles


def pixel_of(image, place):
    """The channels of a pixel, of an image that has several."""
    found = image.getpixel(place)
    assert isinstance(found, tuple)
    return found


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tiff"])
def test_colours_are_those_of_the_profile(tmp_path, suffix):
    path = tmp_path / f"image.{suffix}"
    Image.new("RGB", (32, 32), (255, 0, 0)).save(path, icc_profile=SWAPPED)
    red, green, blue = pixel_of(decode_image(path, None)[0], (5, 5))
    assert green > 200 and red < 60 and blue < 60


def test_grey_and_transparent_images_have_profiles_too(tmp_path):
    Image.new("L", (8, 8), 55).save(tmp_path / "grey.png", icc_profile=LINEAR_GREY)
    assert abs(decode_image(tmp_path / "grey.png", None)[0].getpixel((0, 0))[0] - 128) <= 3  # 55 of linear light
    Image.new("RGBA", (8, 8), (255, 0, 0, 77)).save(tmp_path / "clear.png", icc_profile=SWAPPED)
    red, green, _, alpha = pixel_of(decode_image(tmp_path / "clear.png", None)[0], (0, 0))
    assert green > 200 and red < 60 and alpha == 77


# ---- what cannot be read


def png_of(width, height, depth=1, colour=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def good_png():
    file = io.BytesIO()
    Image.new("RGB", (64, 64), ORANGE).save(file, "PNG")
    return file.getvalue()


HOSTILE = {
    "huge.png": png_of(20_000, 20_000),
    "wide.png": png_of(2**31 - 1, 2**31 - 1),
    "none.png": png_of(0, 5),
    "empty.png": b"",
    "zeros.jpg": bytes(1000),
    "cut.png": good_png()[:60],
    "text.jpg": b"a barn",
    "page.png": b"<html><img src=file:///etc/passwd>",
    "nothing.png": png_of(50, 50),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("max_side", [None, 16])
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, name, max_side):
    (tmp_path / name).write_bytes(HOSTILE[name])
    with pytest.raises(ImageRefused) as caught:
        decode_image(tmp_path / name, max_side)
    assert name in str(caught.value) and "\n" not in str(caught.value)


@given(st.integers(8, 400), st.integers(0, 255))
def test_damaged_bytes_are_refused_or_read(tmp_path_factory, place, byte):
    data = bytearray(good_png())
    data[place % len(data)] = byte
    path = tmp_path_factory.mktemp("damaged") / "image.png"
    path.write_bytes(data)
    try:
        image, _ = decode_image(path, 20)
    except ImageRefused as error:
        assert "\n" not in str(error)
    else:
        assert image.mode in ("RGB", "RGBA")


@pytest.mark.parametrize("size", [(1, 1), (1, 20_000), (20_000, 1)])
def test_thin_images(tmp_path, size):
    Image.new("RGB", size, ORANGE).save(tmp_path / "thin.png")
    image, whole = decode_image(tmp_path / "thin.png", 256)
    assert whole == size and min(image.size) == 1 and max(image.size) <= 256


def test_an_animation_is_its_first_frame(tmp_path):
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("white", "black")]
    for suffix in ("gif", "webp"):
        frames[0].save(tmp_path / f"moving.{suffix}", save_all=True, append_images=frames[1:])
        assert min(decode_image(tmp_path / f"moving.{suffix}", None)[0].getpixel((0, 0))[:3]) > 240


def test_large_ones_are_decoded_one_by_one(tmp_path, monkeypatch):
    Image.new("RGB", (50, 50)).save(tmp_path / "a.png")
    monkeypatch.setattr(decoding, "_LARGE", 100)
    held = []
    decode_image(tmp_path / "a.png", 8, lambda: held.append(decoding._one_large.locked()))
    assert held == [True, True] and not decoding._one_large.locked()
    monkeypatch.setattr(decoding, "_LARGE", 10_000)
    decode_image(tmp_path / "a.png", 8, lambda: held.append(decoding._one_large.locked()))
    assert held[2:] == [False, False]


def test_stopped_between_reading_and_turning(tmp_path):
    Image.new("RGB", (16, 16)).save(tmp_path / "a.png")
    for answers in ([True], [False, True]):
        with pytest.raises(Cancelled):
            decode_image(tmp_path / "a.png", 8, partial(answers.pop, 0))
