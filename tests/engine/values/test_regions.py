"""Regions on the command line and in job files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.options import options_of, read_settings, to_arguments, to_settings
from mezzotint.protocol import GenerateRequest
from mezzotint.values.regions import Region, RegionRef, check_region

VALUE = Region()
PROMPTS = st.text(st.sampled_from("ab ,=(1.2):\né"), max_size=12).map(lambda text: f"a{text}") | st.just("a,b=c,,d,")


@st.composite
def regions(draw):
    left, top = draw(st.tuples(st.floats(0, 0.9), st.floats(0, 0.9)))
    width, height = draw(st.tuples(st.floats(0.01, 1 - left), st.floats(0.01, 1 - top)))
    said = {"prompt": draw(PROMPTS), "weight": draw(st.floats(0, 1))}
    mask = draw(st.none() | st.sampled_from(["sky.png", "a,b=c, d.PNG", "C:\\\\m.jpg"]))
    return RegionRef(**said, mask=mask) if mask else RegionRef(**said, box=(left, top, width, height))


@given(st.lists(regions(), max_size=2).map(tuple))
def test_requests_go_through_options_and_back(said):
    options = options_of(GenerateRequest(prompt="a house", regions=said))
    assert options.region == said
    assert read_settings({"region": to_settings(options).get("region", [])}, AssertionError).region == said
    words = [word.removeprefix("--region=") for word in to_arguments(options) if word != "--region"]
    assert [VALUE.parse(word) for word in words] == list(said)
    places = [{"box": list(one.box)} if one.mask is None else {"mask": one.mask} for one in said]
    tables = [place | {"prompt": one.prompt, "weight": one.weight} for place, one in zip(places, said, strict=True)]
    assert [VALUE.read(table) for table in tables] == list(said)


def test_a_prompt_needs_no_doubled_commas():
    found = VALUE.read("0, 0, 0.5, 1, prompt=a red house, two trees, weight=0.8")
    assert found == RegionRef(box=(0, 0, 0.5, 1), prompt="a red house, two trees", weight=0.8)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("0,0,1", "'0,0,1' is not a box of four numbers"),
        ("0,0,x,1,prompt=a", "'x' is not a number"),
        ("0,0,nan,1,prompt=a", "'nan' is not a number"),
        ("0.6,0,0.5,1,prompt=a", "0.6,0,0.5,1 is not a box inside the image"),
        ("0,0,0,1,prompt=a", "is not a box inside"),
        ("0,0,1,1", "a region has no prompt"),
        ("0,0,1,1,prompt=a,weight=2", "'2.0' is invalid; expected a number from 0 to 1"),
        ("0,0,1,1,prompt=a,size=3", "'size' is not a key; expected prompt, weight"),
        ("0,0,1,1,prompt=a,prompt=b", "'prompt' is given twice"),
        (3, "'3' is not text or a table"),
        ({"box": [0, 0, 0.5, 1], "mask": "a.png", "prompt": "a"}, "'a.png' is given with a box"),
        ({"mask": "a.txt", "prompt": "a"}, "'a.txt' is not the name of an image"),
        ({"box": 3, "prompt": "a"}, "'3' is not a box"),
        ({"box": [0, 0, 1, 1], "prompt": 3}, "'3' is not a prompt"),
        ({"box": [0, 0, 1, True], "prompt": "a"}, "'true' is not a number"),
    ],
)
def test_anything_else_is_refused(said, reason):
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        VALUE.read(said)


def test_requests_of_other_programs_are_checked_too():
    with pytest.raises(ValueError, match="longer than 65536"):
        check_region(RegionRef(box=(0, 0, 1, 1), prompt="a" * 65_537))
