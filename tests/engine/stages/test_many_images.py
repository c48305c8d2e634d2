"""Requests for several images at once: all images of all requests are denoised together."""

from dataclasses import replace
from pathlib import Path

import pytest
from inpaint_requests import build_request, image, mask, request_for
from many_requests import check_as_alone, results, run_many
from recorded_again import read_metadata

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.protocol import Decoding, Encoding, Loading, Output, Saved, Step
from mezzotint.stages import group, pipeline
from mezzotint.stages.pipeline import Pipeline

__all__ = ["image", "mask", "request_for"]  # fixtures


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def requests_for(tiny_pixart_folder, tmp_path):
    def build(count, requests=2, **fields):
        one = build_request(tmp_path, tiny_pixart_folder, steps=2, count=count, **fields)
        return [
            replace(
                one,
                prompt=f"a house and {number} trees",
                seed=10 * number,
                output=Output(path=f"{tmp_path}/{number}/", overwrite=True),
            )
            for number in range(requests)
        ]

    return build


def test_each_is_the_one_made_alone(engine, requests_for, tmp_path):
    requests = requests_for(3)
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [6, 6]
    assert [[one.seed for one in result.images] for result in made] == [[0, 1, 2], [10, 11, 12]]
    assert [[one.index for one in result.images] for result in made] == [[0, 1, 2]] * 2
    for request, result in zip(requests, made, strict=True):
        assert {Path(one.path).parent for one in result.images} == {Path(request.output.path)}
        for one in result.images:
            recorded = read_metadata(Path(one.path)).request
            assert (recorded.prompt, recorded.seed, recorded.count) == (request.prompt, one.seed, 1)
    check_as_alone(engine, requests, made, tmp_path)


def test_those_of_one_request_are_enough(engine, requests_for, tmp_path):
    (request,) = requests_for(2, requests=1)
    made = results(run_many(engine, [request]))
    assert made[0].together == 2
    check_as_alone(engine, [request], made, tmp_path)


def test_a_seed_that_is_left_open_is_drawn_once_for_all(engine, requests_for):
    (request,) = requests_for(2, requests=1)
    (made,) = results(run_many(engine, [replace(request, seed=None)]))
    assert [one.seed for one in made.images] == [made.seed, made.seed + 1]


@pytest.mark.slow
def test_several_of_one_image_and_mask(engine, requests_for, image, mask, tmp_path, monkeypatch):
    read, reads = group.Group._read_images, []
    monkeypatch.setattr(group.Group, "_read_images", lambda *words: reads.append(1) or read(*words))
    requests = requests_for(5)
    requests = [replace(one, images=(image(), mask())) for one in requests]
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [8, 8]
    assert len(reads) == 2  # although batches of 8 and 2 were denoised
    assert all(result.inpaint is not None for result in made)
    check_as_alone(engine, requests, made, tmp_path)


def test_images_that_cannot_be_read_are_read_once(engine, requests_for, image, monkeypatch):
    read, reads = group.Group._read_images, []
    monkeypatch.setattr(group.Group, "_read_images", lambda *words: reads.append(1) or read(*words))
    good, bad = (replace(one, images=(image(),)) for one in requests_for(2))
    outcomes = run_many(engine, [good, replace(bad, images=(replace(image(), sha256="0" * 64),))])
    assert [outcome.failure and outcome.failure.kind for outcome in outcomes] == [None, "image_refused"]
    assert (len(reads), outcomes[0].result.together) == (2, 2)


def test_events_tell_of_each_image_and_the_rest_once_for_each_request(engine, requests_for):
    events = []
    run_many(engine, requests_for(2), events)
    steps = [(each.event.step, each.request, each.event.image) for each in events if isinstance(each.event, Step)]
    assert steps == [(step, place, image) for step in (1, 2) for place in (0, 1) for image in (0, 1)]
    assert {each.event.images for each in events if isinstance(each.event, Step)} == {2}
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    decoded = [(each.request, each.event.image) for each in events if isinstance(each.event, Decoding)]
    saved = [(each.request, each.event.image.index) for each in events if isinstance(each.event, Saved)]
    assert decoded == saved == places
    assert [each.request for each in events if isinstance(each.event, Encoding)] == [0, 1]
    assert {each.request for each in events if isinstance(each.event, Loading)} <= {0}


def test_batches_are_filled_across_requests(engine, requests_for, monkeypatch):
    make, sizes = Pipeline.make, []

    def counts(self, index, images):
        sizes.append([image.seed for image in images])
        return make(self, index, images)

    monkeypatch.setattr(Pipeline, "make", counts)
    monkeypatch.setattr(group, "MAX_BATCH_SIZE", 4)
    made = results(run_many(engine, requests_for(3)))
    assert sizes == [[0, 1, 2, 10], [11, 12]]
    assert [result.together for result in made] == [4, 4]


def test_one_image_that_fails_fails_its_request_and_no_other(engine, requests_for, tmp_path, monkeypatch):
    make, made = Pipeline.make, []

    def fails(self, index, images):
        if any(image.seed == 1 for image in images):
            raise MezzotintError("not a number")
        made.append([image.seed for image in images])
        return make(self, index, images)

    monkeypatch.setattr(Pipeline, "make", fails)
    requests = requests_for(3)
    outcomes = run_many(engine, requests)
    assert outcomes[0].failure.message == "not a number"
    assert made == [[0], [10], [11], [12]]  # the third image of the first request is not tried
    assert len(list((tmp_path / "0").glob("*.png"))) == 1
    monkeypatch.undo()
    check_as_alone(engine, requests[1:], results(outcomes[1:]), tmp_path)


def test_cancelling_keeps_what_is_saved(engine, requests_for, tmp_path):
    events = []
    with pytest.raises(Cancelled):
        run_many(engine, requests_for(2), events, lambda: sum(isinstance(each.event, Saved) for each in events) == 3)
    assert [len(list((tmp_path / name).glob("*.png"))) for name in "01"] == [2, 1]


def test_requests_for_unlike_numbers_of_images_are_apart(engine, requests_for):
    outcomes = run_many(engine, [*requests_for(2, requests=1), *requests_for(1)])
    assert [outcome.result.together for outcome in outcomes] == [2, 2, 2]


def test_prompts_are_encoded_once_for_all_images(engine, requests_for, monkeypatch):
    encoded, encode = [], pipeline.encoded
    monkeypatch.setattr(pipeline, "encoded", lambda *words: encoded.append(1) or encode(*words))
    run_many(engine, requests_for(3))
    assert len(encoded) == 2
