"""Image files without their background: names, transparency, and what they say about themselves."""

import pytest
from own_images import write_own
from PIL import Image

from mezzotint.errors import ImageRefused, UsageError
from mezzotint.images.metadata import read_metadata
from mezzotint.library_protocol import BackgroundRequest
from mezzotint.perception.background import removing
from mezzotint.protocol import Output


@pytest.fixture
def remove(tmp_path, monkeypatch):
    """Removes with a network that finds the left half, and half of the column beside it."""
    network = tmp_path / "net.onnx"
    network.write_bytes(b"network")
    highest = 255

    def front_of(image, path, normalization, ram, cancelled):
        assert (path, ram) == (network, 5)
        front = Image.new("L", image.size)
        front.paste(highest, (0, 0, image.width // 2, image.height))
        front.paste(highest // 2, (image.width // 2, 0, image.width // 2 + 1, image.height))
        return front

    monkeypatch.setattr(removing, "front_of", front_of)

    def run(path, most=255, **asked):
        nonlocal highest
        highest = most
        request = BackgroundRequest(path=str(path), **asked)
        return removing.remove_background(request, network, 5, lambda event: None, lambda: False)

    return run


def test_a_png_next_to_the_image(remove, tmp_path):
    Image.new("RGB", (8, 6), "red").save(tmp_path / "a.jpg", quality=100)
    made = remove(tmp_path / "a.jpg")
    saved = Image.open(made.path)
    assert (made.path, saved.mode) == (str(tmp_path / "a-cutout.png"), "RGBA")
    assert saved.getpixel((0, 0))[0] > 250 and saved.getpixel((0, 0))[3] == 255
    assert saved.getpixel((4, 0))[3] == 127
    assert saved.getpixel((7, 5)) == (0, 0, 0, 0)  # what was removed is not in the file
    assert 0.5 < made.front < 0.6
    assert remove(tmp_path / "a.jpg").path == str(tmp_path / "a-cutout-1.png")  # nothing is overwritten


@pytest.mark.parametrize("opacity", [0, 100])
def test_what_was_transparent_stays_so(remove, tmp_path, opacity):
    image = Image.new("RGBA", (8, 6), "red")
    image.paste((0, 0, 0, opacity), (0, 0, 2, 6))
    image.save(tmp_path / "a.png")
    saved = Image.open(remove(tmp_path / "a.png").path)
    assert (saved.getpixel((0, 0))[3], saved.getpixel((3, 0))[3]) == (opacity, 255)


def test_what_is_not_used_is_told(remove, tmp_path):
    Image.new("RGB", (8, 6), "red").save(tmp_path / "a.png", icc_profile=b"none")
    assert "its colour profile (damaged)" in remove(tmp_path / "a.png").notices[0]


def test_our_images_keep_their_record(remove, tmp_path):
    path = write_own(tmp_path / "own.png", prompt="a red barn")
    found = read_metadata(tmp_path / remove(path).path)
    assert found.prompt == "a red barn" and found.request is not None
    assert found.other["background_removed"] == "net.onnx"


def test_what_cannot_be_is_refused(remove, tmp_path):
    Image.new("RGB", (8, 6)).save(tmp_path / "a.png")
    with pytest.raises(ImageRefused, match="nothing in it stands out"):
        remove(tmp_path / "a.png", most=100)
    with pytest.raises(UsageError, match="no transparency"):
        remove(tmp_path / "a.png", output=Output(path=str(tmp_path / "b.jpg")))
    assert {each.name for each in tmp_path.iterdir()} == {"a.png", "net.onnx"}
