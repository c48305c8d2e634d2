"""Images of the gallery, enlarged by a second pass."""

import pytest
from create_page import kit_of
from gallery_made import metadata

from mezzotint_app.viewmodel.create.request import Form, request_of


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def test_an_image_is_enlarged_by_what_made_it_and_by_the_page_if_that_is_not_known(kit):
    made = request_of(Form(model="dit", prompt="a boat"))
    for read in (metadata(request=made), metadata(program="a1111", prompt="a boat")):
        kit.create.enlarge(read, "/a.png", (2048, 3072), "4x", 0.3)
    ours, other = (kit.tasks(entry)[0].request for entry in kit.entries)
    assert (ours.cascade.stages[0].model.id, other.cascade.stages[0].model.id) == ("dit", "base")
    for request in (ours, other):
        assert (request.prompt, request.strength, request.init_upscaler) == ("a boat", 0.3, "4x")
        assert (request.images[0].path, request.cascade.stages[0].width) == ("/a.png", 2048)
        assert request.output.path.startswith(str(kit.folder / "out"))
