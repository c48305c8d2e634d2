"""Several requests with masks at once: each has its own image and mask, and what is preserved stays."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from inpaint_requests import HOLE, SIDE, mask, outside, pixels, request_for, save_mask, save_noise
from many_requests import check_as_alone, results, run_many
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import MezzotintError
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.protocol import ImageInput, Inpaint, Notice
from mezzotint.stages import group

__all__ = ["mask", "request_for"]  # fixtures

BOXES = (HOLE, (3, 5, 31, 37), (32, 0, 64, 64))


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def requests_for(request_for, tmp_path):
    """Builds requests with images, masks, prompts and seeds of their own."""
    draw, cover = partial(save_noise, tmp_path), partial(save_mask, tmp_path)

    def build(model, count=3, masked=True, sizes=(), **fields):
        for number in range(count):
            size = (*sizes, *[(SIDE, SIDE)] * count)[number]
            inputs = [draw(f"init-{number}.png", size, seed=number)]
            inputs += [cover(BOXES[number % 3], size=size, name=f"mask-{number}.png")] if masked else []
            request = request_for(model, *inputs, **{"steps": 2} | fields)
            yield replace(request, prompt=f"a house and {number} trees", seed=number)

    return lambda *words, **fields: list(build(*words, **fields))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("model", "fill", "sampler"),
    [
        ("tiny_sdxl_folder", "noise", "euler_a"),
        ("tiny_sdxl_folder", "original", "dpmpp_2m_sde"),
        ("tiny_pixart_folder", "blur", None),
    ],
)
def test_each_is_the_one_made_alone_and_what_is_preserved_stays(
    engine, requests_for, request, tmp_path, model, fill, sampler
):
    requests = requests_for(request.getfixturevalue(model), inpaint=Inpaint(fill=fill), sampler=sampler)
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [3] * 3
    for asked, result, box in zip(requests, made, BOXES, strict=True):
        kept = outside((SIDE, SIDE), box)
        before, after = pixels(asked.images[0].path), pixels(result.images[0])
        np.testing.assert_array_equal(after[kept], before[kept])
        assert not np.array_equal(after[~kept], before[~kept])
    check_as_alone(engine, requests, made, tmp_path)


@pytest.mark.slow
def test_areas_of_images_of_any_size_are_inpainted_together(engine, requests_for, tiny_sdxl_folder, tmp_path):
    sizes = [(64, 64), (96, 80), (200, 64)]
    requests = requests_for(tiny_sdxl_folder, sizes=sizes, inpaint=Inpaint(area="masked", padding=8))
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [3] * 3
    assert [(result.images[0].width, result.images[0].height) for result in made] == sizes
    check_as_alone(engine, requests, made, tmp_path)


@pytest.mark.slow
def test_images_grow_together_where_they_are_of_one_size(engine, requests_for, tiny_sdxl_folder, tmp_path):
    inpaint, sizes = Inpaint(right=31, fill="blur"), [(64, 64), (64, 64), (96, 64)]
    requests = requests_for(tiny_sdxl_folder, masked=False, size=None, sizes=sizes, inpaint=inpaint)
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [2, 2, 1]
    assert [result.images[0].width for result in made] == [95, 95, 127]
    check_as_alone(engine, requests, made, tmp_path)


def test_a_mask_that_does_not_fit_fails_by_itself(engine, requests_for, tiny_sdxl_folder, mask):
    requests = requests_for(tiny_sdxl_folder)
    black = mask((0, 0, 0, 0), name="black.png")
    requests[1] = replace(requests[1], images=(requests[1].images[0], black))
    outcomes = run_many(engine, requests)
    assert [outcome.failure.kind if outcome.failure else None for outcome in outcomes] == [None, "usage", None]
    assert "black" in outcomes[1].failure.message
    assert [outcomes[place].result.together for place in (0, 2)] == [2, 2]


def test_notices_come_once_though_a_batch_is_tried_again(engine, requests_for, tiny_sdxl_folder, monkeypatch):
    predict = Sdxl.predict

    def fails(self, model, sample, *rest):
        if sample.shape[0] > 1:
            raise MezzotintError("not a number")
        return predict(self, model, sample, *rest)

    monkeypatch.setattr(Sdxl, "predict", fails)
    requests = requests_for(tiny_sdxl_folder, count=2, sizes=[(96, 96)] * 2)
    events = []
    made = results(run_many(engine, requests, events))
    assert [result.together for result in made] == [1, 1]
    assert [len(result.notices) for result in made] == [1, 1] and "resized" in made[0].notices[0]
    told = [event.request for event in events if isinstance(event.event, Notice)]
    assert told == [0, 1]
    assert all(result.inpaint.width == 96 for result in made)


def test_input_images_of_a_batch_have_no_more_pixels_than_one_may_have(
    engine, requests_for, tiny_sdxl_folder, monkeypatch
):
    monkeypatch.setattr(group, "MAX_PIXELS", 2 * SIDE * (SIDE + 8))
    requests = requests_for(tiny_sdxl_folder)
    assert [result.together for result in results(run_many(engine, requests))] == [2, 2, 1]
    grown = requests_for(tiny_sdxl_folder, count=2, masked=False, size=None, inpaint=Inpaint(top=9))
    assert [result.together for result in results(run_many(engine, grown))] == [1, 1]


def test_an_image_without_a_mask_is_not_denoised_with_those_that_have_one(engine, requests_for, tiny_sdxl_folder):
    requests = requests_for(tiny_sdxl_folder, count=2)
    requests.append(replace(requests[0], images=(requests[0].images[0],)))
    assert [result.together for result in results(run_many(engine, requests))] == [2, 2, 1]


def test_an_unreadable_mask_is_named(engine, requests_for, tiny_sdxl_folder, tmp_path):
    requests = requests_for(tiny_sdxl_folder, count=2)
    Image.new("L", (SIDE, SIDE), 255).save(tmp_path / "other.png")
    changed = ImageInput(path=str(tmp_path / "other.png"), role="mask", sha256="0" * 64)
    requests[0] = replace(requests[0], images=(requests[0].images[0], changed))
    outcomes = run_many(engine, requests)
    assert "the mask has changed" in outcomes[0].failure.message
    assert outcomes[1].result.together == 1
