from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import ExifTags, Image

from mezzotint.errors import StorageError, UsageError
from mezzotint.images.encoding import encode_image
from mezzotint.images.infotext import parse_infotext
from mezzotint.images.metadata import read_metadata
from mezzotint.images.published import without_folders
from mezzotint.images.record import ImageRecord, record_from_json
from mezzotint.images.writing import pixels_sha256
from mezzotint.protocol import FileUsed, ImageInput, LoraRef
from mezzotint.request_protocol import MetadataKept

MakeRecord = Callable[..., ImageRecord]
PROMPT = 'a "red" house, 海の家 🏠:\n(dusk:1.2)'


def opened(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


def comment(image: Image.Image) -> str:
    """EXIF's comment as A1111 and its kin read it."""
    raw = image.getexif().get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment]
    assert raw[:8] == b"UNICODE\0"
    assert image.info["exif"].removeprefix(b"Exif\0\0").startswith(b"MM")  # the file's order is the comment's
    return raw[8:].decode("utf-16-be")


def test_pillow_finds_every_text_in_a_png(pixels: Image.Image, make_record: MakeRecord) -> None:
    record = make_record(prompt=PROMPT, negative_prompt="blurry")
    image = opened(encode_image(pixels, ".png", record))
    assert pixels_sha256(image) == record.image.sha256
    assert image.info["parameters"] == (
        f"{PROMPT}\nNegative prompt: blurry\n"
        "Steps: 20, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 7.5, Seed: 965400086, Size: 48x32, "
        "Model hash: 0123456789, Model: sd_xl_base_1.0, Version: mezzotint 0.1.0"
    )
    assert record_from_json(image.info["mezzotint"]) == without_folders(record)
    assert b"digitalsourcetype/trainedAlgorithmicMedia<" in image.info["xmp"]


@pytest.mark.parametrize("suffix", [".jpg", ".webp"])
def test_pillow_finds_every_text_in_the_others(pixels: Image.Image, make_record: MakeRecord, suffix: str) -> None:
    image = opened(encode_image(pixels, suffix, make_record(prompt=PROMPT)))
    info = parse_infotext(comment(image))
    assert info is not None and info.prompt == PROMPT and info.settings["Seed"] == "965400086"
    assert b"digitalsourcetype/trainedAlgorithmicMedia<" in image.info["xmp"]
    assert b"<mezzotint:record>" in image.info["xmp"]


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_an_image_made_from_another_says_so(pixels: Image.Image, make_record: MakeRecord, suffix: str) -> None:
    record = make_record(images=(ImageInput(path="in.png"),), strength=0.4)
    image = opened(encode_image(pixels, suffix, record))
    assert b"digitalsourcetype/compositeWithTrainedAlgorithmicMedia<" in image.info["xmp"]
    text = image.info["parameters"] if suffix == ".png" else comment(image)
    assert "Denoising strength: 0.4" in text


@pytest.mark.parametrize("suffix", [".jpg", ".webp"])
def test_lossy_images_stay_close(pixels: Image.Image, make_record: MakeRecord, suffix: str) -> None:
    smooth = pixels.resize((8, 8)).resize(pixels.size)
    image = opened(encode_image(smooth, suffix, make_record()))
    pairs = zip(smooth.tobytes(), image.convert("RGB").tobytes(), strict=True)
    assert sum(abs(one - other) for one, other in pairs) / len(smooth.tobytes()) < 4


@pytest.mark.parametrize("characters", [20_000, 40_000, 200_000])
def test_text_beyond_what_a_jpeg_holds_never_costs_the_image(
    tmp_path: Path, pixels: Image.Image, make_record: MakeRecord, characters: int
) -> None:
    record = make_record(prompt="x" * characters)
    (tmp_path / "a.jpg").write_bytes(encode_image(pixels, ".jpg", record))
    metadata = read_metadata(tmp_path / "a.jpg")
    if characters <= 40_000:  # at 40 000 the stages, which repeat the prompt, are left out
        assert metadata.request == record.request
    else:
        assert metadata.program == "unknown"
    with Image.open(tmp_path / "a.jpg") as image:
        assert b"trainedAlgorithmicMedia" in image.info["xmp"]


def test_a_long_schedule_fits_a_jpeg_by_its_request(
    tmp_path: Path, pixels: Image.Image, make_record: MakeRecord
) -> None:
    record = make_record()
    long = replace(record.stages[0], sigmas=tuple(n / 7 for n in range(4000)))
    (tmp_path / "a.jpg").write_bytes(encode_image(pixels, ".jpg", replace(record, stages=(long,))))
    assert read_metadata(tmp_path / "a.jpg").request == record.request


def test_sides_beyond_the_format_are_told(make_record: MakeRecord) -> None:
    with pytest.raises(StorageError, match=r"at most 16383 .* 20000x2: use \.png"):
        encode_image(Image.new("RGB", (20_000, 2)), ".webp", make_record())
    with pytest.raises(StorageError, match=r"use \.png"):
        encode_image(Image.new("RGB", (2, 70_000)), ".jpg", make_record())


def test_other_suffixes_are_refused(pixels: Image.Image, make_record: MakeRecord) -> None:
    for suffix in ("", ".gif"):
        with pytest.raises(UsageError, match=r"\.png"):
            encode_image(pixels, suffix, make_record())


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_no_image_says_in_which_folders_its_files_are(
    pixels: Image.Image, make_record: MakeRecord, suffix: str
) -> None:
    record = make_record()
    init = ImageInput(path="/home/someone/Pictures/beach.png", role="init", sha256="0" * 64)
    lora = LoraRef(path="C:\\Users\\someone\\ink.safetensors")
    used = (FileUsed(path="/home/someone/Pictures/beach.png", sha256="0" * 64, bytes=1),)
    request = replace(record.request, images=(init,), loras=(lora,))
    data = encode_image(pixels, suffix, replace(record, request=request, images_used=used))
    assert b"someone" not in data and "someone".encode("utf-16-be") not in data
    assert b"beach.png" in data


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
@pytest.mark.parametrize(("kept", "has_text", "has_record"), [("all", 1, 1), ("a1111", 1, 0), ("none", 0, 0)])
def test_what_is_kept_of_the_metadata(
    tmp_path: Path,
    pixels: Image.Image,
    make_record: MakeRecord,
    suffix: str,
    kept: MetadataKept,
    has_text: bool,
    has_record: bool,
) -> None:
    data = encode_image(pixels, suffix, make_record(), kept)
    (tmp_path / f"a{suffix}").write_bytes(data)
    metadata = read_metadata(tmp_path / f"a{suffix}")
    assert (metadata.seed is not None, metadata.request is not None) == (bool(has_text), bool(has_record))
    assert (b"digitalsourcetype" in data) is bool(has_text), "none means nothing at all"
