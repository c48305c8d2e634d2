"""What is made of control images: asked of the library service, shown and saved."""

from dataclasses import replace

import pytest

from mezzotint.control_protocol import ControlImageMade, ControlImageRequest
from mezzotint.library_protocol import Pixels, PixelsRequest
from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.create.images.control_previews import ControlPreview, ControlPreviews

CONTROL = ControlChoice(image="/house.png", preprocess="depth")
MADE = ControlImageMade(path="/cache/x.png", width=4, height=4, sha256="0", preprocess="depth", networks=())


@pytest.fixture
def previews(service, inline):
    return ControlPreviews(service, inline)


def test_one_is_made_once_and_shown(previews, service, tmp_path):
    assert previews.of(CONTROL) == ControlPreview()
    for _ in range(2):
        previews.make(CONTROL)
    assert service.methods() == ["prepare_control"] and previews.of(CONTROL).state == "working"
    assert service.last("prepare_control").params == ControlImageRequest(path="/house.png", preprocess="depth")
    service.answer(MADE, "prepare_control")
    assert service.last("pixels").params == PixelsRequest(path="/cache/x.png", max_side=512)
    file = tmp_path / "pixels"
    file.write_bytes(bytes(4 * 4 * 3))
    shape = {"width": 4, "height": 4, "image_width": 8, "image_height": 8}
    service.answer(Pixels(path=str(file), layout="rgb", bytes_per_line=12, **shape), "pixels")
    shown = previews.of(CONTROL)
    assert shown.state == "shown" and shown.image.width() == 4
    assert previews.of(ControlChoice(image="/house.png", preprocess="canny")).state == "none"


def test_a_failure_is_shown_and_can_be_tried_again(previews, service):
    previews.make(CONTROL)
    service.fail(message="no network for depth", method="prepare_control")
    assert previews.of(CONTROL) == ControlPreview(state="failed", problem="no network for depth")
    previews.make(CONTROL)
    service.answer(MADE, "prepare_control")
    service.fail(message="it is gone", method="pixels")
    assert previews.of(CONTROL).problem == "it is gone"


def test_one_is_saved_where_the_user_wants_it(previews, service):
    said = []
    previews.noticed.connect(said.append)
    previews.save(CONTROL, "/depth.png")
    asked = service.last("prepare_control").params
    assert (asked.output, asked.overwrite) == ("/depth.png", True)
    service.answer(replace(MADE, path="/depth.png"), "prepare_control")
    previews.save(CONTROL, "/depth.png")
    service.fail(message="the disk is full", method="prepare_control")
    assert said == ["Saved as /depth.png", "the disk is full"]
