"""Reference images on the whole page: asked for, checked, kept, planned, and set by "Edit this image"."""

from dataclasses import replace

import pytest
from create_page import MODELS, kit_of, model_info
from PySide6.QtGui import QImage

from mezzotint.protocol import GenerateRequest, ImageInput, ModelRef
from mezzotint_app.viewmodel.pixels import LoadedImage


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def test_an_image_is_edited_by_a_model_that_takes_references(kit):
    assert not kit.create.edit_image("/r.png")
    assert "FLUX.2 Klein" in kit.said.pop()
    kit.create.models.use([*MODELS, model_info("klein", "flux2-klein", references=4)])
    kit.write("make it winter").create.images.set_image("/init.png")
    assert kit.create.edit_image("/r.png")
    request = kit.create.request()
    assert request.cascade.stages[0].model == ModelRef(id="klein")
    assert request.images == (ImageInput(path="/r.png", role="reference"),)
    assert (request.strength, request.inpaint) == (None, None)
    assert kit.create.problems() == {}
    assert kit.create.generate() and kit.said == []
    assert kit.tasks(kit.entries[-1])[0].request.images == request.images
    kit.create.chosen.set_model("dit")
    assert "takes no reference images" in kit.create.problems()["references"]
    kit.create.chosen.set_model("klein")
    kit.create.references.add(f"/{number}.png" for number in range(4))
    assert "at most 4" in kit.create.problems()["references"]


def test_reference_images_are_kept_come_back_and_are_planned(kit):
    kit.create.models.use([*MODELS, model_info("klein", "flux2-klein", references=4)])
    kit.create.chosen.set_model("klein")
    kit.create.restore()
    kit.create.references.add(["/r.png"])
    one = kit.create.references.items()[0]
    kit.create.references._put(replace(one, image=LoadedImage(image=QImage(), width=640, height=480)))
    kit.create.references.changed.emit()
    assert kit.create._plan_request().references == ((640, 480),)
    assert kit.state.value().images == (ImageInput(path="/r.png", role="reference"),)
    kit.create.references.clear()
    kit.state.change(images=(ImageInput(path="/s.png", role="reference"),))
    kit.create.restore()
    assert [one.path for one in kit.create.references.items()] == ["/s.png"]


def test_reference_images_come_with_the_settings_of_an_image(kit):
    kit.create.apply_request(GenerateRequest(prompt="a", images=(ImageInput(path="/r.png", role="reference"),)))
    assert kit.said == []
    assert kit.create.request().images == (ImageInput(path="/r.png", role="reference"),)
