"""The list of reference images: its order is the request's, and what cannot be read is said and kept."""

from dataclasses import replace
from pathlib import Path

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtGui import QColor, QImage  # noqa: E402

from mezzotint import paths  # noqa: E402
from mezzotint.protocol import GenerateRequest, ImageInput  # noqa: E402
from mezzotint_app.viewmodel.create.images.references import MOST_REFERENCES, ReferencesModel  # noqa: E402
from mezzotint_app.viewmodel.pixels import LoadedImage  # noqa: E402


@pytest.fixture
def model(service, inline):
    return ReferencesModel(service, inline)


def paths_of(model):
    return [one.path for one in model.items()]


def put(model, place=0, width=80, height=60):
    """As if the library service had answered for the image at a place."""
    image = LoadedImage(image=QImage(width, height, QImage.Format.Format_RGB32), width=width, height=height)
    model._put(replace(model.items()[place], image=image))


def test_images_are_added_once_in_their_order_and_named_in_the_request(model, service):
    told = []
    model.added.connect(lambda: told.append("added"))
    model.add(["/a.png", Path("/b.png"), "/a.png"])
    model.add(["/b.png"])
    assert paths_of(model) == [str(Path("/a.png")), str(Path("/b.png"))]
    assert [one.is_loading for one in model.items()] == [True, True]
    assert [one.params.path for one in service.open("pixels")] == paths_of(model)
    assert model.inputs() == tuple(ImageInput(path=path, role="reference") for path in paths_of(model))
    assert told == ["added"]


@pytest.mark.parametrize(
    ("place", "to", "order"),
    [(0, 2, "bca"), (2, 0, "cab"), (1, 1, "abc"), (0, 3, "abc"), (-1, 0, "abc"), (3, 0, "abc")],
)
def test_images_are_moved_and_places_outside_the_list_change_nothing(model, place, to, order):
    model.add(["a", "b", "c"])
    model.move(place, to)
    assert "".join(paths_of(model)) == order


def test_removing_and_clearing(model):
    changes = []
    model.add(["a", "b"])
    model.changed.connect(lambda: changes.append(paths_of(model)))
    model.remove(0)
    model.clear()
    model.clear()
    assert changes == [["b"], []]


def test_what_cannot_be_read_is_said_by_name_and_read_again_when_the_service_is_back(model, service):
    model.add(["/x/a.png", "/x/b.png"])
    service.fail("image_refused", "is damaged: give another copy")
    assert model.problem() == "a.png: is damaged: give another copy"
    assert len(model.inputs()) == 2, "leaving one out would make another image than the one asked for"
    model.retry()
    assert model.problem() == ""
    assert [one.params.path for one in service.asked] == ["/x/a.png", "/x/b.png", "/x/a.png"]


def test_sizes_are_those_that_are_known(model):
    model.add(["a", "b"])
    assert model.sizes() == ()
    put(model, 1, 640, 480)
    assert model.sizes() == ((640, 480),)


def test_more_than_the_list_takes_are_told(model):
    told = []
    model.message.connect(told.append)
    model.add(f"{number}.png" for number in range(MOST_REFERENCES + 2))
    assert len(model.items()) == MOST_REFERENCES
    assert str(MOST_REFERENCES + 2) in told[0]


def test_an_image_from_the_clipboard_becomes_a_file(model):
    image = QImage(4, 3, QImage.Format.Format_RGB32)
    image.fill(QColor("#aa5500"))
    model.paste(image)
    model.paste(image)
    (one,) = model.items()
    assert Path(one.path).parent == paths.state_folder() / "pasted"
    assert Path(one.path).stem == one.sha256
    told = []
    model.message.connect(told.append)
    model.paste(QImage())
    assert told == ["There is no image on the clipboard."]


def test_the_list_comes_back_from_a_request(model):
    model.add(["old"])
    request = GenerateRequest(
        prompt="x",
        images=(
            ImageInput(path="/i.png"),
            ImageInput(path="/r.png", role="reference", sha256="0" * 64),
            ImageInput(path="/s.png", role="reference"),
        ),
    )
    model.apply(request)
    assert model.inputs() == request.images[1:]
    model.apply(GenerateRequest(prompt="x"))
    assert model.items() == ()


def test_a_new_list_takes_the_place_of_the_old(model):
    model.add(["a"])
    model.set(["b"])
    assert paths_of(model) == ["b"]
