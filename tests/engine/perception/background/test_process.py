"""Networks in ONNX run in a process of their own, in which a hostile one can do no harm."""

import struct

import pytest
from PIL import Image
from tiny_onnx import brightness, field, model, node, outside, value_info

from mezzotint.errors import Cancelled, ModelRefused, OutOfMemory
from mezzotint.perception.background.preprocessing import Normalization
from mezzotint.perception.background.process import front_of

PLAIN = Normalization((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
IMAGE, MASK = value_info("image", (1, 3, 32, 32)), value_info("mask", (1, 1, 32, 32))

pytestmark = pytest.mark.requires_package("onnxruntime")


@pytest.fixture
def image():
    image = Image.new("RGB", (100, 60), (51, 51, 51))
    image.paste((255, 255, 255), (20, 10, 60, 40))
    return image


def front(tmp_path, image, content, ram=4 << 30):
    (tmp_path / "net.onnx").write_bytes(content)
    return front_of(image, tmp_path / "net.onnx", PLAIN, ram)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("side", [32, "any"])
def test_a_mask_of_the_image_s_own_size(tmp_path, image, side):
    found = front(tmp_path, image, brightness(side))
    assert (found.mode, found.size) == ("L", image.size)
    assert (found.getpixel((40, 25)), found.getpixel((95, 55))) == (255, 51)


def test_logits_become_parts(tmp_path):
    twice = node("Add", ["mean", "mean"], "mask")
    logits = model([node("ReduceMean", ["image"], "mean"), twice], [IMAGE], [value_info("mask", (1, 1, 1, 1))])
    assert front(tmp_path, Image.new("RGB", (40, 40), "white"), logits).getpixel((3, 3)) == round(255 * 0.8808)


def bomb():
    size = field(1, 1) + field(2, 7) + field(8, "s") + field(9, struct.pack("<q", 1 << 36))
    keeping_none = field(1, "keepdims") + field(3, 0) + field(20, 2)
    large = node("ConstantOfShape", ["s"], "large"), node("ReduceSum", ["large"], "one", keeping_none)
    return model([*large, node("Add", ["image", "one"], "mask")], [IMAGE], [MASK], [size])


def test_one_that_needs_too_much_memory_is_stopped(tmp_path, image):
    with pytest.raises(OutOfMemory, match="needs more than the 2.0 GB"):
        front(tmp_path, image, bomb(), ram=2 << 30)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (model([node("Add", ["image", "t"], "mask")], [IMAGE], [MASK], [outside("t", (1, 1, 32, 32), "/etc/passwd")]),
         "Absolute path"),
        (model([node("Relu", ["image"], "mask")], [IMAGE], [MASK]), "not a mask"),
        (b"garbage", "parsing failed"),
        (model([node("Unknown", ["image"], "mask")], [IMAGE], [MASK]), "No Op registered"),
        (brightness(8), "takes images of 8x8"),
        (model([node("Relu", ["image"], "mask")], [value_info("image", (1, 32))], [MASK]), "not an image"),
        (model([node("Add", ["image", "b"], "mask")], [IMAGE, value_info("b", (1,))], [MASK]), "takes 2 inputs"),
    ],
)  # fmt: skip
def test_others_are_refused_with_the_reason(tmp_path, image, content, reason):
    with pytest.raises(ModelRefused, match=reason):
        front(tmp_path, image, content)


def test_it_can_be_stopped(tmp_path, image):
    (tmp_path / "net.onnx").write_bytes(brightness())
    with pytest.raises(Cancelled):
        front_of(image, tmp_path / "net.onnx", PLAIN, 4 << 30, cancelled=lambda: True)
