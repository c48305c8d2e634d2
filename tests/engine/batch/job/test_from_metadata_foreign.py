"""Earlier images as a start: ours whole, foreign ones as far as they are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.job.from_metadata import request_from_metadata
from mezzotint.errors import UsageError
from mezzotint.protocol import GenerateRequest, ImageMetadata, ModelRef, Sampling, Stage

FOREIGN = {
    "program": "a1111",
    "prompt": "a barn",
    "negative_prompt": "rain",
    "width": 512,
    "height": 768,
    "seed": 7,
    "steps": 20,
    "sampler": "euler_a",
    "schedule": "karras",
    "guidance_scale": 6.5,
    "strength": None,
    "model": "base",
    "model_hash": None,
    "request": None,
    "other": {},
}


def metadata(**changes):
    return ImageMetadata(**FOREIGN | changes)


def base(tell=None, is_model=lambda name: name == "base", **changes):
    return request_from_metadata(metadata(**changes), "a.png", is_model, tell or (lambda text: None))


@pytest.mark.parametrize(("seed", "taken"), [(7, 7), (2**32 + 7, 7), (2**64 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1)])
def test_a_large_seed_is_that_of_the_noise_that_it_made(seed, taken):
    assert base(seed=seed).seed == taken


def test_ours_is_taken_whole():
    request = GenerateRequest(prompt="mine", seed=3)
    told = []
    assert base(told.append, request=request) is request
    assert told == []


def test_what_is_known_of_a_foreign_image_is_taken():
    told = []
    request = base(told.append)
    assert (request.prompt, request.negative_prompt, request.seed, request.count) == ("a barn", "rain", 7, 1)
    sampling = Sampling(sampler="euler_a", schedule="karras", steps=20, guidance_scale=6.5)
    stage = Stage(model=ModelRef(id="base"), width=512, height=768, sampling=sampling)
    assert request.cascade.stages == (stage,)
    assert told == ["notice: a.png was made by a1111: the new image will differ"]


@pytest.mark.parametrize(
    ("field", "value", "lost"),
    [
        ("model", "other", "model other"),
        ("sampler", "DPM fast", "sampler DPM fast"),
        ("schedule", "turbo", "schedule turbo"),
        ("steps", 0, "steps 0"),
        ("steps", 10**6, "steps 1000000"),
        ("seed", -1, "seed -1"),
        ("seed", -2, "seed -2"),
        ("guidance_scale", float("nan"), "guidance nan"),
        ("guidance_scale", -1.0, "guidance -1.0"),
        ("sampler", "a\x1b[31m\nb", "sampler a\\x1b[31m\\nb"),
    ],
)
def test_what_cannot_be_taken_is_told(field, value, lost):
    told = []
    base(told.append, **{field: value})
    assert told[0].endswith(f"; left out: {lost}")


@pytest.mark.parametrize("name", ["sdxl\\base", "sdxl/base", "//evil/share/base"])
def test_a_models_folders_are_not_followed(name):
    asked = []
    base(is_model=asked.append, model=name)
    assert asked == ["base"]


def test_an_image_that_says_nothing_is_refused():
    with pytest.raises(UsageError, match=r"a.png has no metadata about how it was made: its record is damaged"):
        base(prompt=None, other={"note": "its record is damaged"})


@given(st.builds(ImageMetadata, request=st.none(), prompt=st.text()))
def test_any_foreign_metadata_gives_a_request_or_lines_that_are_plain(found):
    told = []
    request = request_from_metadata(found, "a.png", lambda name: False, told.append)
    assert request.prompt == found.prompt
    assert "\n" not in told[0]
    assert "\x1b" not in told[0]
