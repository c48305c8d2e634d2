"""Footprints to JSON and back, and what is no footprint."""

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.footprints.footprint_json import (
    component_from_json,
    component_to_json,
    model_from_json,
    model_to_json,
)
from mezzotint.memory.footprints.shipped import shipped, shipped_names


@pytest.mark.parametrize("name", shipped_names())
def test_there_and_back(name):
    told = json.loads(json.dumps(model_to_json(shipped(name))))
    assert model_from_json(told) == shipped(name)


def test_how_the_halves_of_the_guidance_may_come_is_kept():
    model = replace(shipped("starter-xl"), halves=("sequential",))
    told = json.loads(json.dumps(model_to_json(model)))
    assert model_from_json(told) == model
    with pytest.raises(ValueError, match="halves"):
        model_from_json(told | {"halves": ["backwards"]})


def _paths(told, path=()):
    yield path
    items = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    for key, value in items:
        yield from _paths(value, (*path, key))


_TOLD = component_to_json(shipped("starter-xl").denoiser)
_PATHS = [path for path in _paths(_TOLD) if path]


@given(st.sampled_from(_PATHS), st.sampled_from([None, -1, "x", [], {}, 1.5, True]))
def test_what_is_damaged_is_refused_or_still_a_footprint(path, value):
    told = copy.deepcopy(_TOLD)
    place = told
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        part = component_from_json(told)
    except ValueError:
        return
    assert json.loads(json.dumps(component_to_json(part))) == told | {"shared": part.shared}


@pytest.mark.parametrize("key", [*_TOLD])
def test_what_lacks_something_is_refused(key):
    with pytest.raises(ValueError, match="invalid footprint"):
        component_from_json({name: value for name, value in _TOLD.items() if name != key})


def test_a_model_without_a_part_is_refused():
    told = model_to_json(shipped("starter-xl"))
    with pytest.raises(ValueError, match="steps"):
        model_from_json({name: value for name, value in told.items() if name != "steps"})
