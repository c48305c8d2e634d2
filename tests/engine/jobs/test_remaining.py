"""The part of a task that is still to be made."""

import os
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.naming import NameFields, image_path
from mezzotint.jobs.remaining import index_of_seed, remaining_request
from mezzotint.protocol import GenerateRequest, Output

NOW = datetime(2026, 11, 21, 12, 0, 0)
TEMPLATES = [
    "/o/",
    "/o/[seed].png",
    "/o/[index].png",
    "/o/[index] of [count].jpg",
    "/o/house.png",
    "/o/house",
    "/o/[count]/x.webp",
]
TEMPLATES += ["/o/[[index].png", "/o/[date]/[prompt]", "/o/a.b/[model].png", "/o/[count]-[seed].png"]


def names(request, first_seed, first_index=0):
    """What the engine would call the images."""
    fields = {
        "prompt": "p",
        "model": "m",
        "width": 8,
        "height": 8,
        "steps": 1,
        "sampler": "s",
        "count": request.count,
        "now": NOW,
    }
    return [
        str(image_path(request.output, NameFields(seed=request.seed + number, index=number, **fields)))
        for number in range(request.count)
    ]


@given(st.sampled_from(TEMPLATES), st.integers(1, 12), st.data())
def test_asked_for_bit_by_bit_images_are_named_as_all_at_once(template, count, data):
    request = GenerateRequest(prompt="p", seed=100, count=count, output=Output(path=template.replace("/", os.sep)))
    made = data.draw(st.sets(st.integers(0, count - 1), max_size=count - 1))
    whole = names(request, 100)
    came = {}
    while len(made) < count:
        part = remaining_request(request, made)
        numbers = [index_of_seed(part.request.seed + one, 100, count) for one in range(part.request.count)]
        assert not made & set(numbers)
        came |= dict(zip(numbers, names(part.request, 100), strict=True))
        made |= set(numbers)
        assert part.missing_after == count - len(made)
    assert all(Path(whole[number]) == Path(name) for number, name in came.items())


def test_a_task_of_which_nothing_is_there_is_asked_for_as_it_was():
    request = GenerateRequest(prompt="p", seed=1, count=5, output=Output(path="/o/[index].png"))
    assert remaining_request(request, ()).request is request


def test_what_follows_each_other_is_asked_for_at_once():
    part = remaining_request(GenerateRequest(prompt="p", seed=10, count=9), {0, 1, 5})
    assert (part.request.seed, part.request.count, part.missing_after) == (12, 3, 3)


@pytest.mark.parametrize(("seed", "number"), [(7, 0), (9, 2), (10, None), (6, None)])
def test_the_number_of_a_seed(seed, number):
    assert index_of_seed(seed, 7, 3) == number
