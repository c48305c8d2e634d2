"""What a Ray node answers."""

from dataclasses import replace

import pytest
from batch_programs import StandIn, painted, task
from ray_programs import content_hashes

from mezzotint.batch.ray.node import Node
from mezzotint.batch.ray.parcel import packed, parcel_to_wire, reply_from_wire, together
from mezzotint.errors import ImageRefused
from mezzotint.protocol import ImageInput


@pytest.fixture(autouse=True)
def left(tmp_path, monkeypatch):
    """The folder in which a node works; nothing stays there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def replied(*requests, engine=None, needs=()):
    parcel = together([packed(one) for one in requests], needs)
    return reply_from_wire(Node(lambda: engine or StandIn(), content_hashes()).make(parcel_to_wire(parcel)))


def test_images_come_back_as_png_whatever_is_asked_for(tmp_path):
    one = task(1, tmp_path).request
    one = replace(one, output=replace(one.output, path=str(tmp_path / "a.jpg")))
    (answer,) = replied(one).answers
    assert answer.images[0].startswith(b"\x89PNG") and answer.result.images[0].seed == 1
    assert list(tmp_path.glob("*.jpg")) == []


def test_several_are_made_together_and_each_has_its_own_end(tmp_path):
    engine = StandIn()
    asked = [task(number, tmp_path, words).request for number, words in enumerate(["a", "refused", "bug", "b"])]
    answers = replied(*asked, engine=engine).answers
    assert engine.groups == [4]
    assert [one.failure and one.failure.kind for one in answers] == [None, "image_refused", "bug", None]
    assert [len(one.images) for one in answers] == [1, 0, 0, 1]


@pytest.mark.parametrize(("words", "kind"), [("refused", "image_refused"), ("bug", "bug")])
def test_an_error_is_told_by_its_kind(tmp_path, words, kind):
    (answer,) = replied(task(1, tmp_path, words).request).answers
    assert answer.failure.kind == kind and answer.result is None


def test_a_device_that_is_lost_or_absent_is_told_apart(tmp_path):
    assert "illegal memory access" in replied(task(1, tmp_path, "lost").request).lost
    assert replied(task(1, tmp_path, "nowhere").request).unusable == "there is no such card"


def test_errors_name_an_image_by_what_the_run_calls_it(tmp_path):
    class Reads(StandIn):
        def generate(self, request, on_event, cancelled):
            raise ImageRefused(f"{request.images[0].path} is damaged")

    photo = tmp_path / "photo.png"
    painted(1).save(photo)
    one = replace(task(1, tmp_path).request, images=(ImageInput(path=str(photo)),))
    (answer,) = replied(one, engine=Reads()).answers
    assert answer.failure.message == f"{packed(one).requests[0].images[0].path} is damaged"
