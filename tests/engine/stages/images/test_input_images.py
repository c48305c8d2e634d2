"""What is not used of a request's images is said, and what is only enlarged keeps its transparency."""

import pytest
from PIL import Image

from mezzotint.protocol import ControlRef, GenerateRequest, ImageInput
from mezzotint.stages.images.input_images import read_inputs
from mezzotint.stages.images.references import read_references
from mezzotint.stages.images.request_images import request_images


@pytest.fixture
def transparent(tmp_path):
    path = tmp_path / "cut.png"
    image = Image.new("RGBA", (32, 32), (0, 0, 0, 0))
    image.paste((200, 30, 30, 255), (0, 0, 32, 16))
    image.save(path)
    return path


def inputs_of(*images, enlarges=False, controls=()):
    request = GenerateRequest(prompt="", images=images)
    sizes = [(64, 64)]
    return read_inputs(request.images, request_images(request), sizes, lambda: False, controls, enlarges=enlarges)


def test_an_image_that_is_enlarged_keeps_its_transparency(transparent):
    found = inputs_of(ImageInput(path=str(transparent)), enlarges=True)
    assert found.init.getpixel((5, 30)) == pytest.approx((200, 30, 30), abs=2) and found.not_used == ()
    made = found.composite(Image.new("RGB", (64, 64), "blue"))
    assert (made.getpixel((5, 5)), made.getpixel((5, 60))[3]) == ((0, 0, 255, 255), 0)
    assert found.without_pixels().opacity is None


def test_an_image_that_is_made_anew_says_that_it_loses_it(transparent):
    found = inputs_of(ImageInput(path=str(transparent)))
    assert found.init.getpixel((5, 30)) == (255, 255, 255) and found.composite(found.init).mode == "RGB"
    assert len(found.not_used) == 1 and "cut.png: not used: its transparency (white" in found.not_used[0]


def test_references_control_images_and_masks_say_it_too(transparent, tmp_path):
    said = []
    assert read_references([transparent], said.append)[0].mode == "RGB" and len(said) == 1
    plain, mask = tmp_path / "plain.png", tmp_path / "mask.png"
    Image.new("RGB", (32, 32)).save(plain)
    Image.new("L", (32, 32), 180).save(mask)
    assert "transparency" in inputs_of(controls=[ControlRef(image=str(transparent), type="canny")]).not_used[0]
    found = inputs_of(ImageInput(path=str(plain)), ImageInput(path=str(mask), role="mask"), enlarges=True)
    assert ["its greys" in one for one in found.not_used] == [True]
