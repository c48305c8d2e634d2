"""Control images on the command line and in job files."""

import dataclasses
import typing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.control_protocol import (
    MAX_CONTROL_WEIGHT,
    ControlImage,
    ControlRef,
    ControlType,
    Preprocess,
    check_control,
)
from mezzotint.options import OPTIONS, options_of, read_settings, to_arguments, to_settings
from mezzotint.protocol import GenerateRequest

VALUE = ControlImage()
NAMES = st.text(st.sampled_from("ab ,=;:/\\.é"), min_size=1, max_size=12) | st.sampled_from(["a,b=c.png", ",,", "a,"])
PARTS = st.floats(0, 1)


@st.composite
def controls(draw):
    start, end = draw(st.tuples(PARTS, PARTS).filter(lambda pair: pair[0] < pair[1]))
    return ControlRef(
        image=draw(NAMES),
        model=draw(st.just("") | NAMES),
        weight=draw(st.floats(0, MAX_CONTROL_WEIGHT)),
        start=start,
        end=end,
        type=draw(st.sampled_from((None, *typing.get_args(ControlType)))),
        preprocess=draw(st.sampled_from(typing.get_args(Preprocess))),
        keep=draw(st.booleans()),
        encoder=draw(st.none() | NAMES),
        mask=draw(st.none() | NAMES),
    )


@given(controls())
def test_what_is_written_is_read(control):
    assert VALUE.parse(VALUE.to_setting(control)) == VALUE.read(VALUE.to_setting(control)) == control
    assert VALUE.to_arguments(control) == [VALUE.to_setting(control)]
    table = {name: value for name, value in dataclasses.asdict(control).items() if value is not None}
    assert VALUE.read(table) == control


@given(st.lists(controls(), max_size=3).map(tuple))
def test_requests_go_through_options_and_back(given_):
    request = GenerateRequest(prompt="a house", controls=given_)
    options = options_of(request)
    assert options.control == given_
    said = to_settings(options).get("control", [])
    assert read_settings({"control": said}, AssertionError).control == given_
    words = list(to_arguments(options))
    assert [VALUE.parse(word.removeprefix("--control=")) for word in words if word != "--control"] == list(given_)


def test_files_with_commas():
    control = VALUE.parse("a,b,,c=d.png,model=e,f.safetensors")
    assert (control.image, control.model) == ("a,b,c=d.png", "e,f.safetensors")


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("", "no image is given"),
        ("a.png,model=m,height=1", "'height' is not a key; expected model, weight"),
        ("a.png,model=m,weight=x", "weight='x' is invalid"),
        ("a.png,model=m,weight=2.5", "from 0 to 2"),
        ("a.png,model=m,weight=nan", "weight='nan' is invalid"),
        ("a.png,model=m,start=0.5,end=0.5", "start=0.5 is not below end=0.5"),
        ("a.png,model=m,start=-1", "start='-1.0' is invalid"),
        ("a.png,model=m,end=1.5", "end='1.5' is invalid"),
        ("a.png,model=m,type=dog", "type='dog' is invalid; expected one of openpose"),
        ("a.png,model=m,preprocess=hed", "preprocess='hed' is invalid; expected one of none, canny"),
        ("a.png,model=m,model=n", "'model' is given twice"),
        ("a.png,model=m,image=b.png", "'image' is given twice"),
    ],
)
def test_what_is_wrong_is_told(word, why):
    with pytest.raises(ValueError, match=why):
        VALUE.parse(word)
    with pytest.raises(ValueError, match=why):
        VALUE.read(word)


@pytest.mark.parametrize(
    ("value", "why"),
    [(7, "is not text or a table"), ({"image": "a", "model": 3}, "is not text"), ({"mode": "m"}, "'mode' is not")],
)
def test_what_is_wrong_in_a_job_file(value, why):
    with pytest.raises(ValueError, match=why):
        VALUE.read(value)


def test_an_undecodable_file_name_is_taken_from_the_command_line_alone():
    assert VALUE.parse("a\udc80.png,model=m").image == "a\udc80.png"
    with pytest.raises(ValueError, match="invalid"):
        VALUE.read("a\udc80.png,model=m")


def test_values_of_a_request_are_checked():
    control = ControlRef(image="a", model="b")
    check_control(control)
    for wrong in ({"weight": 3.0}, {"start": 1.0}, {"end": 0.0}):
        with pytest.raises(ValueError, match="weight|start"):
            check_control(replace(control, **wrong))


def test_the_option_is_documented():
    assert OPTIONS["control"].takes.metavar == "IMAGE[,model=MODEL][,KEY=VALUE...]"
