"""Image files enlarged: names, sizes, what they say about themselves, memory."""

import numpy
import pytest
import torch
from colour_profiles import SWAPPED
from own_images import write_own
from PIL import Image
from safetensors.torch import save_file

from mezzotint.errors import ImageRefused, UsageError
from mezzotint.images.metadata import read_metadata
from mezzotint.images.reading import read_image
from mezzotint.images.writing import pixels_sha256
from mezzotint.library_protocol import UpscaleRequest
from mezzotint.memory.machine.probe import machine_facts
from mezzotint.protocol import Notice, Output
from mezzotint.upscaling.compact import Compact
from mezzotint.upscaling.files import UpscaleJob


@pytest.fixture
def file(tmp_path):
    torch.manual_seed(1)
    path = tmp_path / "twice.safetensors"
    save_file(Compact(4, 1, 2).state_dict(), path)
    return path


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "photo.png"
    values = numpy.random.default_rng(2).integers(0, 256, (20, 30, 3), dtype=numpy.uint8)
    Image.fromarray(values).save(path)
    return path


def enlarge(file, path, on_event=lambda event: None, **asked):
    request = UpscaleRequest(path=str(path), device="cpu", **asked)
    return UpscaleJob(request, file, machine_facts, on_event, lambda: False).run()


def test_it_is_saved_next_to_the_image(file, image):
    made = enlarge(file, image)
    assert made.path == str(image.with_name("photo-2x.png")) and (made.width, made.height) == (60, 40)
    assert made.sha256 == pixels_sha256(read_image(image.with_name("photo-2x.png")))
    assert (made.passes, made.upscaler.scale, made.upscaler.architecture, made.memory) == (1, 2, "Compact", None)
    assert enlarge(file, image).path == str(image.with_name("photo-2x-1.png"))  # nothing is overwritten


@pytest.mark.parametrize(
    ("scale", "size", "passes"), [(1, (30, 20), 1), (1.5, (45, 30), 1), (4, (120, 80), 2), (5, (150, 100), 3)]
)
def test_any_scale(file, image, scale, size, passes):
    made = enlarge(file, image, scale=scale)
    assert ((made.width, made.height), made.passes) == (size, passes)


def test_output(file, image, tmp_path):
    assert enlarge(file, image, output=Output(path=f"{tmp_path}/new/")).path == str(tmp_path / "new" / "photo-2x.png")
    assert enlarge(file, image, output=Output(path=f"{tmp_path}/a.jpg")).path == str(tmp_path / "a.jpg")
    with pytest.raises(UsageError, match="tokens"):
        enlarge(file, image, output=Output(path=f"{tmp_path}/[seed].png"))


def test_our_images_keep_their_record(file, tmp_path):
    path = write_own(tmp_path / "own.png", prompt="a red barn")
    for name in ("own-2x.png", "own-2x-2x.png"):
        path = tmp_path / enlarge(file, path).path
        found = read_metadata(path)
        assert path.name == name and found.prompt == "a red barn" and found.request is not None
    assert (found.width, found.height) == (192, 128)
    assert found.other["upscaled"] == "twice.safetensors to 96x64, twice.safetensors to 192x128"


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_other_images_keep_what_they_say(file, tmp_path, suffix):
    path, exif = tmp_path / f"photo{suffix}", Image.Exif()
    exif[0x010F], exif[0x0112] = "a camera", 6  # its maker, and a quarter turn
    Image.new("RGB", (12, 8), "red").save(path, exif=exif)
    made = Image.open(enlarge(file, path).path)
    assert made.size == (16, 24)  # upright
    assert dict(made.getexif()) == {0x010F: "a camera"}
    assert b"algorithmicallyEnhanced" in (made.info.get("xmp") or made.info["XML:com.adobe.xmp"].encode())


def test_colours_become_srgb_by_their_profile(file, tmp_path):
    path, plain = tmp_path / "photo.png", tmp_path / "green.png"
    Image.new("RGB", (12, 8), "red").save(path, icc_profile=SWAPPED)
    read_image(path).save(plain)
    made = enlarge(file, path)
    with Image.open(made.path) as large, Image.open(enlarge(file, plain).path) as same:
        assert "icc_profile" not in large.info and made.notices == ()
        assert large.tobytes() == same.tobytes()
    Image.new("RGB", (12, 8)).save(path, icc_profile=b"none")
    assert "its colour profile (damaged)" in enlarge(file, path).notices[0]


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.gif"])
def test_transparency_is_kept(file, tmp_path, name):
    image = Image.new("RGBA", (16, 12), (0, 0, 0, 0))
    image.paste((200, 30, 30, 255), (0, 0, 16, 6))
    image.save(tmp_path / name, **({"lossless": True} if name == "a.webp" else {}))
    made = enlarge(file, tmp_path / name, scale=3)
    with Image.open(made.path) as large:
        assert (large.mode, large.size, made.notices) == ("RGBA", (48, 36), ())
        assert large.getpixel((24, 4))[3] > 250 and large.getpixel((24, 32))[3] < 5


def test_jpeg_says_that_it_has_no_transparency(file, tmp_path):
    Image.new("LA", (8, 8), (100, 100)).save(tmp_path / "a.png")
    told = []
    made = enlarge(file, tmp_path / "a.png", told.append, output=Output(path=f"{tmp_path}/b.jpg"))
    assert Image.open(made.path).mode == "RGB" and "no transparency" in made.notices[0]
    assert made.notices == tuple(event.message for event in told if isinstance(event, Notice))


def test_text_chunks_of_other_programs_are_kept(file, tmp_path):
    from PIL.PngImagePlugin import PngInfo

    texts = PngInfo()
    texts.add_text("parameters", "a boat\nSteps: 20, Sampler: Euler, Seed: 5, Size: 8x8")
    Image.new("RGB", (8, 8)).save(tmp_path / "a1111.png", pnginfo=texts)
    found = read_metadata(tmp_path / enlarge(file, tmp_path / "a1111.png").path)
    assert (found.program, found.prompt, found.seed) == ("a1111", "a boat", 5)


def test_a_simulated_card_is_enough(file, image):
    told = []
    made = enlarge(file, image, told.append, vram_limit_bytes=10**6, tile=64)
    assert made.memory is not None
    assert made.memory.measured_bytes <= made.memory.predicted_bytes * 1.05 <= 10**6
    assert told[-1].unit == "tiles" and told[-1].done == told[-1].total


@pytest.mark.parametrize(
    ("asked", "reason"),
    [({"scale": 0.5}, "must be from 1"), ({"scale": float("nan")}, "must be from 1"), ({"tile": 8}, "must be from 64")],
)
def test_values_that_cannot_work(file, image, asked, reason):
    with pytest.raises(UsageError, match=reason):
        enlarge(file, image, **asked)


def test_results_have_a_limit(file, tmp_path):
    Image.new("RGB", (4000, 3000)).save(tmp_path / "large.png")
    with pytest.raises(UsageError, match="megapixels"):
        enlarge(file, tmp_path / "large.png", scale=8)


def test_what_is_no_image_is_refused(file, tmp_path):
    (tmp_path / "x.png").write_bytes(b"<html>")
    with pytest.raises(ImageRefused):
        enlarge(file, tmp_path / "x.png")
