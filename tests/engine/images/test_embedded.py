from io import BytesIO

import pytest
from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.images.embedded import EmbeddedTexts, embedded_texts


def exif_with(comment: bytes | str | None = None, maker_note: bytes | None = None, **texts: str) -> Image.Exif:
    exif = Image.Exif()
    inner = {ExifTags.Base.UserComment.value: comment, ExifTags.Base.MakerNote.value: maker_note}
    exif[ExifTags.IFD.Exif] = {tag: value for tag, value in inner.items() if value is not None}
    for name, text in texts.items():
        exif[ExifTags.Base[name]] = text
    return exif


def found_in(pixels: Image.Image, format_: str = "JPEG", **saved: object) -> EmbeddedTexts:
    file = BytesIO()
    pixels.save(file, format_, **saved)
    file.seek(0)
    with Image.open(file) as image:
        return embedded_texts(image)


@pytest.mark.parametrize(
    "comment",
    [
        b"UNICODE\0" + "Größe 海 Steps: 2".encode("utf-16-be"),
        b"UNICODE\0" + "Größe 海 Steps: 2".encode("utf-16-le"),
        b"UNICODE\0" + "\ufeffGröße 海 Steps: 2\0\0".encode("utf-16-le"),
        bytes(8) + "Größe 海 Steps: 2".encode(),
        "Größe 海 Steps: 2".encode(),
    ],
)
@pytest.mark.parametrize("format_", ["JPEG", "WEBP", "PNG"])
def test_a_comment_is_read_in_every_encoding(pixels: Image.Image, comment: bytes, format_: str) -> None:
    assert found_in(pixels, format_, exif=exif_with(comment)).comment == "Größe 海 Steps: 2"


def test_ascii_comments_and_notes(pixels: Image.Image) -> None:
    found = found_in(pixels, exif=exif_with(b"ASCII\0\0\0plain", b"a1111\0", Make="workflow:{}", Model="prompt:{}"))
    assert (found.comment, found.maker_note) == ("plain", "a1111")
    assert set(found.exif) == {"workflow:{}", "prompt:{}"}


def test_the_files_own_comment_is_the_last_resort(pixels: Image.Image) -> None:
    assert found_in(pixels, comment="héllo").comment == "héllo"
    assert found_in(pixels, "GIF", comment=b"in a gif").comment == "in a gif"
    assert found_in(pixels, comment="file", exif=exif_with(b"ASCII\0\0\0exif")).comment == "exif"


def test_chunks_are_texts(pixels: Image.Image) -> None:
    chunks = PngInfo()
    chunks.add_text("parameters", "plain")
    chunks.add_itxt("prompt", "海", zip=True)
    found = found_in(pixels, "PNG", pnginfo=chunks, dpi=(72, 72))
    assert {key: found.chunks[key] for key in ("parameters", "prompt")} == {"parameters": "plain", "prompt": "海"}
    assert all(type(text) is str for text in found.chunks.values())


def test_broken_exif_costs_only_itself(pixels: Image.Image) -> None:
    found = found_in(pixels, comment="kept", exif=b"Exif\0\0not a tiff header at all")
    assert found.comment == "kept" and found.note is not None and "EXIF" in found.note


def test_an_image_without_any(pixels: Image.Image) -> None:
    assert found_in(pixels) == EmbeddedTexts(chunks={})
