import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.images.metadata import IMAGE_SIZE, NOTE, read_metadata
from mezzotint.images.record import ImageRecord
from mezzotint.images.untrusted import MAX_TEXT
from mezzotint.images.writing import write_image

MakeRecord = Callable[..., ImageRecord]
PngWith = Callable[..., Path]

INFOTEXT = "a red house\nNegative prompt: blurry\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 5, Size: 512x768"
GRAPH = json.dumps(
    {
        "1": {"class_type": "KSampler", "inputs": {"steps": 9, "latent_image": ["2", 0], "positive": ["3", 0]}},
        "2": {"class_type": "EmptyLatentImage", "inputs": {"width": 48, "height": 32}},
        "3": {"class_type": "CLIPTextEncode", "inputs": {"text": "a cat"}, "is_changed": [float("nan")]},
    }
)
SWARMUI = json.dumps({"sui_image_params": {"prompt": "a swarm", "seed": 3}})
FOOOCUS = json.dumps({"prompt": "a fox", "base_model": "m", "resolution": "(48, 32)"})


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_our_own_images_give_their_request_back(
    tmp_path: Path, pixels: Image.Image, make_record: MakeRecord, suffix: str
) -> None:
    record = make_record(prompt='海 🏠\n<a href="x">&amp;</a>\nNegative prompt: no', negative_prompt="\x00\udce9")
    found = read_metadata(write_image(pixels, tmp_path / f"a.{suffix}", record, overwrite=False))
    assert found.request == record.request
    assert (found.program, found.width, found.height) == ("mezzotint", 48, 32)
    assert NOTE not in found.other


def test_a_record_from_the_future_leaves_what_everyone_can_read(
    tmp_path: Path, pixels: Image.Image, make_record: MakeRecord
) -> None:
    record = replace(make_record(), schema_version=2)
    found = read_metadata(write_image(pixels, tmp_path / "a.png", record, overwrite=False))
    assert found.request is None and "newer Mezzotint" in found.other[NOTE]
    assert (found.program, found.prompt, found.seed, found.sampler) == (
        "mezzotint",
        "a red house",
        965400086,
        "dpmpp_2m",
    )


def test_a_damaged_record_alone_is_still_named(png_with: PngWith) -> None:
    found = read_metadata(png_with(mezzotint="{"))
    assert (found.program, found.request, found.width) == ("mezzotint", None, 48)
    assert "damaged" in found.other[NOTE]


@pytest.mark.parametrize(
    ("texts", "program", "prompt"),
    [
        ({"parameters": INFOTEXT}, "a1111", "a red house"),
        ({"parameters": "only words"}, "a1111", "only words"),
        ({"parameters": INFOTEXT + "\nTemplate: a {red|blue} house"}, "a1111", "a red house"),
        ({"parameters": INFOTEXT, "fooocus_scheme": "a1111"}, "fooocus", "a red house"),
        ({"parameters": FOOOCUS, "fooocus_scheme": "fooocus"}, "fooocus", "a fox"),
        ({"parameters": SWARMUI}, "swarmui", "a swarm"),
        ({"invokeai_metadata": '{"positive_prompt": "an image"}'}, "invokeai", "an image"),
        ({"prompt": GRAPH, "workflow": "{}"}, "comfyui", "a cat"),
        ({"prompt": GRAPH, "parameters": INFOTEXT}, "a1111", "a red house"),
        ({"Software": "NovelAI", "Description": "a castle", "Comment": "{}"}, "novelai", "a castle"),
        ({"Dream": '"a dream" -s 3'}, "invokeai", "a dream"),
        ({"Dream": '"cut', "sd-metadata": '{"image": {"prompt": "a memory"}}'}, "invokeai", "a memory"),
        ({"prompt": "words of another program"}, "unknown", None),
        ({"prompt": "{}"}, "unknown", None),
        ({"parameters": "{}"}, "unknown", None),
        ({}, "unknown", None),
    ],
)
def test_each_program_is_told_apart(png_with: PngWith, texts: dict[str, str], program: str, prompt: str | None) -> None:
    found = read_metadata(png_with(**texts))
    assert (found.program, found.prompt, found.request) == (program, prompt, None)


def test_the_size_is_the_images_unless_its_settings_say_another(png_with: PngWith) -> None:
    assert read_metadata(png_with()).width == 48
    assert IMAGE_SIZE not in read_metadata(png_with(prompt=GRAPH)).other
    found = read_metadata(png_with(parameters=INFOTEXT))
    assert (found.width, found.height, found.other[IMAGE_SIZE]) == (512, 768, "48x32")


@pytest.mark.parametrize(("suffix", "order"), [("jpg", "utf-16-be"), ("webp", "utf-16-be"), ("webp", "utf-16-le")])
@pytest.mark.parametrize(
    ("text", "program", "prompt"),
    [(INFOTEXT, "a1111", "a red house"), (SWARMUI, "swarmui", "a swarm"), (FOOOCUS, "fooocus", "a fox")],
)
def test_exif_comments_hold_the_same_dialects(
    tmp_path: Path, pixels: Image.Image, suffix: str, order: str, text: str, program: str, prompt: str
) -> None:
    exif = Image.Exif()
    exif[ExifTags.IFD.Exif] = {ExifTags.Base.UserComment.value: b"UNICODE\0" + text.encode(order)}
    pixels.save(tmp_path / f"a.{suffix}", exif=exif)
    found = read_metadata(tmp_path / f"a.{suffix}")
    assert (found.program, found.prompt) == (program, prompt)


def test_a_camera_comment_is_no_prompt(tmp_path: Path, pixels: Image.Image) -> None:
    exif = Image.Exif()
    exif[ExifTags.IFD.Exif] = {ExifTags.Base.UserComment.value: b"ASCII\0\0\0at the beach"}
    pixels.save(tmp_path / "a.jpg", exif=exif)
    assert read_metadata(tmp_path / "a.jpg").program == "unknown"


def test_comfyuis_webp(tmp_path: Path, pixels: Image.Image) -> None:
    exif = Image.Exif()
    exif[ExifTags.Base.Model] = f"prompt:{GRAPH}"
    exif[ExifTags.Base.Make] = "workflow:{}"
    pixels.save(tmp_path / "a.webp", exif=exif)
    found = read_metadata(tmp_path / "a.webp")
    assert (found.program, found.prompt, found.steps) == ("comfyui", "a cat", 9)


@pytest.mark.parametrize("keyword", ["parameters", "prompt", "invokeai_metadata", "mezzotint"])
@pytest.mark.parametrize(
    "nest", ['{"a":' * 10_000, '{"a":' + "[" * 10_000, '{"a": 1', '{"a": "' + "x" * MAX_TEXT + '"}']
)
def test_malformed_json_leaves_a_note_and_the_size(png_with: PngWith, keyword: str, nest: str) -> None:
    found = read_metadata(png_with(**{keyword: nest}))
    assert (found.prompt, found.width, found.height) == (None, 48, 32)
    assert found.other[NOTE]


def test_one_broken_dialect_does_not_hide_the_next(png_with: PngWith) -> None:
    found = read_metadata(png_with(mezzotint="{", invokeai_metadata="[[", parameters=INFOTEXT))
    assert (found.program, found.prompt) == ("a1111", "a red house")
    assert "record" in found.other[NOTE] and "JSON" in found.other[NOTE]


def test_a_prompt_of_a_megabyte_is_plain_and_cut(png_with: PngWith) -> None:
    found = read_metadata(png_with(parameters="<img src=file:///x>\x1b[2J" + "y" * 1_000_000))
    assert found.prompt is not None
    assert found.prompt.startswith("<img src=file:///x>[2Jyyy") and len(found.prompt) < MAX_TEXT + 20


def test_a_bomb_of_text_is_named(tmp_path: Path, pixels: Image.Image) -> None:
    chunks = PngInfo()
    chunks.add_text("parameters", "x" * (17 << 20), zip=True)
    pixels.save(tmp_path / "a.png", pnginfo=chunks)
    found = read_metadata(tmp_path / "a.png")
    assert found.prompt is None and "its parameters is left out (of more than 16 MB)" in found.other["note"]


def test_no_pixel_is_decoded(tmp_path: Path, png_with: PngWith) -> None:
    whole = png_with(parameters=INFOTEXT).read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: whole.index(b"IDAT") + 10])
    assert read_metadata(tmp_path / "cut.png").prompt == "a red house"


@given(
    texts=st.dictionaries(
        st.sampled_from(["parameters", "prompt", "invokeai_metadata", "mezzotint", "fooocus_scheme"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
        | st.sampled_from([INFOTEXT, GRAPH, SWARMUI, FOOOCUS]).map(lambda text: text[:-1]),
    )
)
def test_any_text_is_survived(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]) -> None:
    chunks = PngInfo()
    for keyword, text in texts.items():
        chunks.add_text(keyword, text)
    path = tmp_path_factory.getbasetemp() / "any.png"
    Image.new("RGB", (4, 4)).save(path, pnginfo=chunks)
    found = read_metadata(path)
    assert found.request is None and found.width is not None
