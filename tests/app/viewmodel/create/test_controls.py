"""The control images of the Create page."""

import typing
from dataclasses import replace

from create_forms import CONTROLS
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import ControlType, Preprocess
from mezzotint_app.viewmodel.create.controls import (
    ControlChoice,
    controls_in_use,
    controls_of,
    planned_controls,
    preprocess_names,
    type_names,
    with_images,
    with_model,
)


@given(st.lists(CONTROLS, max_size=3).map(tuple))
def test_those_switched_on_are_used_and_read_again(controls):
    assert controls_of(controls_in_use(controls)) == tuple(one for one in controls if one.on)


def test_those_with_a_network_are_planned():
    chosen = ControlChoice(image="/a.png", model="canny", end=0.5)
    controls = (chosen, ControlChoice(image="/b.png"), replace(chosen, on=False))
    assert planned_controls(controls) == ("/a.png,model=canny,end=0.5",)


def test_images_are_added_for_the_last_network():
    first = with_images((), ["/a.png", "/a.png"])
    assert first == (ControlChoice(image="/a.png"),)
    named = with_model((replace(first[0], sha256="0"),), 0, "/canny.safetensors")
    assert named == (ControlChoice(image="/a.png", model="/canny.safetensors"),)
    assert with_images(named, ["/b.png"])[1] == ControlChoice(image="/b.png", model="/canny.safetensors")


def test_everything_has_a_name():
    assert set(type_names()) == set(typing.get_args(ControlType))
    assert set(preprocess_names()) == set(typing.get_args(Preprocess))
