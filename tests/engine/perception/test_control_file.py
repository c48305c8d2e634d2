"""Control images of image files, and what is said where there can be none."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tiny_perception import write_depth

from mezzotint.control_protocol import ControlImageRequest
from mezzotint.errors import ImageRefused, UnknownModel, UsageError
from mezzotint.images.control.methods import METHODS
from mezzotint.memory.machine.probe import machine_facts
from mezzotint.perception.control_file import make_control_image
from mezzotint.perception.depth import open_depth_estimator
from mezzotint.perception.preparing import ControlPreparation
from mezzotint.protocol import Progress


@pytest.fixture
def photo(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def make(photo, how, find=None, **asked):
    told = []
    preparation = ControlPreparation(find or missing)
    request = ControlImageRequest(path=str(photo), preprocess=how, device="cpu", **asked)
    made = make_control_image(request, preparation, machine_facts, told.append, lambda: False)
    assert told == [Progress(what="preparing the control image", done=0, total=1, unit="images")]
    return made


def missing(purpose, label=None):
    raise UnknownModel(f"no network for {purpose}")


def test_it_is_written_beside_the_image_and_never_over_another(photo):
    made = make(photo, "canny")
    assert (made.path, made.width, made.height, made.networks) == (str(photo.with_name("photo-canny.png")), 60, 40, ())
    assert Image.open(made.path).convert("RGB") == METHODS["canny"](Image.open(photo))
    assert make(photo, "canny").path == str(photo.with_name("photo-canny-1.png"))
    named = str(photo.with_name("edges.png"))
    assert make(photo, "canny", output=named).path == make(photo, "canny", output=named, overwrite=True).path == named


def test_a_network_makes_it_on_a_device_and_is_named(photo, tmp_path):
    write_depth(tmp_path / "depth")
    made = make(photo, "depth", lambda purpose, label=None: tmp_path / purpose)
    assert made.networks == (str(tmp_path / "depth"),)
    expected = open_depth_estimator(tmp_path / "depth").depth_map(Image.open(photo))
    assert Image.open(made.path).convert("L") == expected


def test_nothing_is_written_where_it_cannot_be(photo, tmp_path):
    with pytest.raises(UnknownModel, match="no network for depth"):
        make(photo, "depth")
    with pytest.raises(UsageError, match=r"name a \.png file"):
        make(photo, "canny", output=str(tmp_path / "x.jpg"))
    with pytest.raises(ImageRefused):
        make(tmp_path / "none.png", "canny")

    class Nobody(ControlPreparation):
        def prepared(self, *_):
            raise ImageRefused("nobody is found")

    request = ControlImageRequest(path=str(photo), preprocess="gray")
    with pytest.raises(ImageRefused, match="photo.png: nobody is found"):
        make_control_image(request, Nobody(missing), machine_facts, lambda _: None, lambda: False)
    assert [path.name for path in Path(tmp_path).iterdir()] == ["photo.png"]
