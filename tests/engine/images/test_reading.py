import os
import socket
import struct
import sys
import warnings
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from mezzotint.errors import ImageRefused
from mezzotint.images.reading import (
    FORMATS,
    MAX_FILE_BYTES,
    MAX_PIXELS,
    open_image,
    read_image,
    refused_if_broken,
    upright,
    upright_size,
)

ORIENTATION = 0x0112
SAVABLE = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "TIFF": "tif", "BMP": "bmp", "GIF": "gif", "AVIF": "avif"}


def png(width: int, height: int, depth: int = 1, colour: int = 0, data: bytes = b"") -> bytes:
    """A PNG written by hand, so that it can lie about its size."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def two_halves(mode: str = "RGB") -> Image.Image:
    """Red on the left, blue on the right: which way is up can be seen."""
    image = Image.new("RGB", (40, 20), "red")
    image.paste("blue", (20, 0, 40, 20))
    return image.convert(mode)


def close(pixel: tuple[int, ...], expected: tuple[int, int, int]) -> bool:
    return all(abs(one - other) <= 12 for one, other in zip(pixel, expected, strict=True))


@pytest.mark.parametrize("format_", FORMATS)
def test_every_allowed_format_is_read_as_rgb(tmp_path: Path, format_: str) -> None:
    path = tmp_path / f"a.{SAVABLE[format_]}"
    two_halves().save(path, format_)
    image = read_image(path)
    assert (image.mode, image.size) == ("RGB", (40, 20))
    assert close(image.getpixel((5, 10)), (255, 0, 0)) and close(image.getpixel((35, 10)), (0, 0, 255))


@pytest.mark.parametrize("format_", [one for one in FORMATS if one not in ("BMP", "GIF")])
def test_orientation_is_applied_once(tmp_path: Path, format_: str) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # the right side of what is stored is its bottom when shown
    path = tmp_path / f"a.{SAVABLE[format_]}"
    two_halves().save(path, format_, exif=exif)
    image = read_image(path)
    assert image.size == (20, 40)
    assert close(image.getpixel((10, 5)), (255, 0, 0)) and close(image.getpixel((10, 35)), (0, 0, 255))
    assert ORIENTATION not in image.getexif()


def test_transparent_parts_are_white(tmp_path: Path) -> None:
    rgba = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    rgba.putpixel((1, 1), (10, 200, 30, 255))
    rgba.putpixel((2, 2), (0, 0, 0, 128))
    rgba.save(tmp_path / "a.png")
    image = read_image(tmp_path / "a.png")
    assert image.getpixel((0, 0)) == (255, 255, 255)
    assert image.getpixel((1, 1)) == (10, 200, 30)
    assert close(image.getpixel((2, 2)), (127, 127, 127))


@pytest.mark.parametrize("mode", ["P", "L", "RGB", "LA", "1"])
def test_transparency_of_every_kind_is_white(tmp_path: Path, mode: str) -> None:
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0)) if mode == "LA" else Image.new(mode, (4, 4), 0)
    black = (0, 0, 0) if mode == "RGB" else 0
    kept = image.convert("LA") if mode == "LA" else image
    kept.save(tmp_path / "a.png", **({} if mode == "LA" else {"transparency": black}))
    assert read_image(tmp_path / "a.png").getpixel((2, 2)) == (255, 255, 255)


def test_sixteen_bits_keep_their_greys(tmp_path: Path) -> None:
    deep = Image.new("I;16", (3, 1))
    for x, value in enumerate((0, 32896, 65535)):
        deep.putpixel((x, 0), value)
    for name in ("a.png", "a.tif"):
        deep.save(tmp_path / name)
        image = read_image(tmp_path / name)
        assert [image.getpixel((x, 0)) for x in range(3)] == [(0,) * 3, (128,) * 3, (255,) * 3]


@pytest.mark.parametrize(("mode", "values"), [("F", (0.0, 0.5019608, 1.0)), ("I", (0, 128 * 1000, 255 * 1000))])
def test_floats_and_wide_integers_keep_their_greys(tmp_path: Path, mode: str, values: tuple[float, ...]) -> None:
    deep = Image.new(mode, (3, 1))
    for x, value in enumerate(values):
        deep.putpixel((x, 0), value)
    deep.save(tmp_path / "a.tif")
    image = read_image(tmp_path / "a.tif")
    assert [close(image.getpixel((x, 0)), (grey,) * 3) for x, grey in enumerate((0, 128, 255))] == [True] * 3


def test_floats_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    Image.new("F", (2, 2), float("nan")).save(tmp_path / "a.tif")
    with pytest.raises(ImageRefused, match="NaN"):
        read_image(tmp_path / "a.tif")


def test_cmyk_keeps_its_colours(tmp_path: Path) -> None:
    two_halves("CMYK").save(tmp_path / "a.jpg", quality=95)
    image = read_image(tmp_path / "a.jpg")
    assert image.mode == "RGB"
    assert close(image.getpixel((5, 10)), (255, 0, 0))


@pytest.mark.parametrize("format_", ["GIF", "WEBP"])
def test_of_an_animation_the_first_frame_is_read(tmp_path: Path, format_: str) -> None:
    path = tmp_path / f"a.{SAVABLE[format_]}"
    Image.new("RGB", (8, 8), "red").save(path, save_all=True, append_images=[Image.new("RGB", (8, 8), "blue")])
    assert close(read_image(path).getpixel((4, 4)), (255, 0, 0))


@pytest.mark.parametrize("size", [(1, 1), (1, 20_000), (20_000, 1)])
def test_odd_shapes_are_read(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.new("RGB", size, "red").save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").size == size


def test_the_suffix_does_not_matter(tmp_path: Path) -> None:
    two_halves().save(tmp_path / "a.png", "TIFF")
    assert read_image(tmp_path / "a.png").size == (40, 20)


def test_four_hundred_million_pixels_are_refused_before_decoding(tmp_path: Path) -> None:
    side = 20_000
    rows = zlib.compress(bytes((side // 8 + 1) * side), 9)
    (tmp_path / "bomb.png").write_bytes(png(side, side, data=rows))
    with pytest.raises(ImageRefused, match=r"too large.*scale it down"):
        read_image(tmp_path / "bomb.png")


@pytest.mark.parametrize(("width", "allowed"), [(10_000, True), (10_001, False)])
def test_the_limit_is_a_hundred_million(tmp_path: Path, width: int, allowed: bool) -> None:
    assert MAX_PIXELS == 10_000 * 10_000
    (tmp_path / "a.png").write_bytes(png(width, 10_000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Pillow's own warning comes earlier, and must not decide
        if allowed:
            with open_image(tmp_path / "a.png") as image:
                assert image.size == (width, 10_000)
        else:
            with pytest.raises(ImageRefused, match="10001x10000 is 100 million pixels"), open_image(tmp_path / "a.png"):
                pass


def test_the_warnings_of_the_program_stay_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(20_000, 20_000))
    before, cap = list(warnings.filters), Image.MAX_IMAGE_PIXELS
    with pytest.raises(ImageRefused):
        read_image(tmp_path / "a.png")
    assert warnings.filters == before
    assert cap == Image.MAX_IMAGE_PIXELS and not ImageFile.LOAD_TRUNCATED_IMAGES


@pytest.mark.parametrize("format_", FORMATS)
def test_a_truncated_image_is_refused(tmp_path: Path, format_: str) -> None:
    whole = BytesIO()
    Image.effect_noise((64, 64), 90).convert("RGB").save(whole, format_)
    path = tmp_path / f"a.{SAVABLE[format_]}"
    path.write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    with pytest.raises(ImageRefused, match=r"damaged or incomplete|not an image"):
        read_image(path)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"", "empty"),
        (b"Dear diary, today I made an image", "contains text"),
        (b"\n<!DOCTYPE html><html></html>", "web page"),
        (b"<svg xmlns='x'/>", "SVG"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git-LFS"),
        (b"%PDF-1.7\n", "PDF"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "PostScript"),
        (b"8BPS\0\1", "Photoshop"),
        (bytes(1000), "only zeros"),
        (b"\x01\x02\x03\xfe", "not an image in a supported format"),
    ],
)
def test_what_is_no_image_is_named(tmp_path: Path, content: bytes, seen: str) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    with pytest.raises(ImageRefused, match=seen) as refused:
        read_image(path)
    assert str(path) in str(refused.value) and "\n" not in str(refused.value)


def test_formats_beyond_the_list_are_refused_even_by_their_right_name(tmp_path: Path) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.ppm")
    Image.new("RGB", (4, 4)).save(tmp_path / "a.eps")
    for name in ("a.ppm", "a.eps"):
        with pytest.raises(ImageRefused):
            read_image(tmp_path / name)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageRefused, match="no such file"):
        read_image(tmp_path / "none.png")
    with pytest.raises(ImageRefused, match="is a folder"):
        read_image(tmp_path)
    with pytest.raises(ImageRefused, match="character"):
        read_image(tmp_path / "a\0.png")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among its files")
def test_a_pipe_or_socket_is_refused_without_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(ImageRefused, match="is a pipe"):
        read_image(tmp_path / "a.png")
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind("b.png")
        with pytest.raises(ImageRefused, match="is a socket"):
            read_image(Path("b.png"))
    with pytest.raises(ImageRefused, match="is a device"):
        read_image(Path(os.devnull))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_circle_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.png").symlink_to(tmp_path / "b.png")
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    with pytest.raises(ImageRefused, match="circle"):
        read_image(tmp_path / "a.png")


def test_broken_exif_costs_nothing_but_the_orientation(tmp_path: Path) -> None:
    two_halves().save(tmp_path / "a.jpg", exif=b"Exif\0\0MM\0*\0\0\0\x08" + b"\xff" * 40)
    assert read_image(tmp_path / "a.jpg").size == (40, 20)


@pytest.mark.parametrize("format_", FORMATS)
@given(data=st.data())
def test_damage_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, format_: str, data: st.DataObject
) -> None:
    whole = BytesIO()
    two_halves().save(whole, format_)
    raw = bytearray(whole.getvalue())
    for position in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=8)):
        raw[position] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / f"damaged.{SAVABLE[format_]}"
    path.write_bytes(bytes(raw))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = read_image(path)
        except ImageRefused:
            return
    assert image.mode == "RGB" and image.width * image.height <= MAX_PIXELS


def test_more_than_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "a.webp").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)  # a file with a hole, which takes no room
    with pytest.raises(ImageRefused, match=r"has 1\.0 GB; at most 1 GB"):
        read_image(tmp_path / "a.webp")


def test_what_turns_out_to_be_no_image_while_it_is_decoded_is_refused(tmp_path: Path) -> None:
    refused = pytest.raises(ImageRefused, match="is not an image in a supported format")
    with refused, refused_if_broken(tmp_path / "a.png"):
        Image.open(BytesIO(b"x"))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_size_is_known_as_it_stands_without_decoding(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    two_halves().save(tmp_path / "a.jpg", exif=exif)
    with open_image(tmp_path / "a.jpg") as image:
        assert upright_size(image) == ((20, 40) if orientation >= 5 else (40, 20))
    assert read_image(tmp_path / "a.jpg").size == ((20, 40) if orientation >= 5 else (40, 20))


def test_a_size_without_an_orientation_is_as_stored(tmp_path: Path) -> None:
    two_halves().save(tmp_path / "a.png")
    with open_image(tmp_path / "a.png") as image:
        assert upright_size(image) == (40, 20)
        image.info["exif"] = b"Exif\0\0noise"
        assert upright_size(image) == (40, 20)


def test_an_orientation_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    image = two_halves()
    image.info["exif"] = b"Exif\0\0noise"
    assert upright(image) is image
