"""What is looked at is what the engine would refuse."""

from dataclasses import replace

import pytest
from create_forms import settings as any_settings
from create_page import model_info
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.control_protocol import MAX_CONTROLS
from mezzotint.errors import UsageError
from mezzotint.protocol import GenerateRequest
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.stages.images.sizes import LARGEST_AREA, SMALLEST, check_size
from mezzotint.stages.request_checks import MAX_LORA_WEIGHT, MAX_LORAS, check_request
from mezzotint_app.viewmodel.create import checks as create_checks
from mezzotint_app.viewmodel.create import sizes
from mezzotint_app.viewmodel.create.checks import Checked, problems
from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST
from mezzotint_app.viewmodel.create.request import Form, request_of
from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice

CHECKED = Checked(
    prompt="a",
    negative_prompt="",
    settings=CreateSettings(),
    seed=None,
    model="m",
    info=model_info("m"),
    model_problem=None,
    models_known=True,
    refiner_fits=True,
    conditional_refiner_fits=True,
    has_image=False,
)


def test_the_limits_are_the_engines():
    assert LONGEST == MAX_PROMPT
    assert (create_checks.MOST_LORAS, create_checks.LARGEST_LORA_WEIGHT) == (MAX_LORAS, MAX_LORA_WEIGHT)
    assert (sizes.SMALLEST, sizes.LARGEST_AREA) == (SMALLEST, LARGEST_AREA)


ODD = st.builds(
    replace,
    any_settings(),
    count=st.sampled_from([1, 3, 0, 10_001]),
    steps=st.sampled_from([None, 1, 0, 1001]),
    loras=st.sampled_from([(), (LoraChoice(path="a", weight=101.0),), (LoraChoice(path="a"),) * 33]),
)


@given(ODD, st.sampled_from([None, 0, 2**63 - 1, 2**63]))
def test_what_passes_here_is_not_refused_there(settings, seed):
    """The part of the engine's checks that needs no model; samplings are checked with it."""
    if problems(replace(CHECKED, settings=settings, seed=seed)).keys() & {"count", "seed", "loras"}:
        with pytest.raises(UsageError):
            check_request(request(settings, seed))
    else:
        check_request(request(settings, seed))


def request(settings, seed) -> GenerateRequest:
    return request_of(Form(model="m", prompt="a", settings=settings, seed=seed))


@given(st.integers(1, 9000), st.integers(1, 9000), st.sampled_from(["sdxl", "pixart"]))
def test_a_size_is_refused_where_the_engine_refuses_it(width, height, family):
    info = model_info("m", family)
    told = problems(replace(CHECKED, settings=CreateSettings(width=width, height=height), info=info))
    try:
        check_size(width, height, sizes.multiple_of(info))
    except UsageError:
        assert "size" in told
    else:
        assert "size" not in told or max(width, height) > sizes.LARGEST_SIDE


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_words_may_be_missing_where_there_is_an_image(prompt):
    assert set(problems(replace(CHECKED, prompt=prompt))) == {"prompt"}
    assert problems(replace(CHECKED, prompt=prompt, has_image=True)) == {}


def test_models_are_not_missed_before_the_list_is_there():
    assert set(problems(replace(CHECKED, info=None))) == {"model"}
    assert problems(replace(CHECKED, info=None, models_known=False)) == {}


@pytest.mark.parametrize("family", ["sdxl", "pixart"])
def test_what_a_family_does_not_take_is_told(family):
    settings = CreateSettings(clip_skip=1, embeddings=("a",))
    told = problems(replace(CHECKED, settings=settings, info=model_info("m", family)))
    assert set(told) == (set() if family == "sdxl" else {"clip_skip", "embeddings"})


def test_control_images_need_a_network_and_a_model_that_takes_them():
    def told(count, family="sdxl", **fields):
        controls = (ControlChoice(image="/a/edges.png", model="m.safetensors", **fields),) * count
        checked = replace(CHECKED, settings=CreateSettings(controls=controls), info=model_info("m", family))
        return problems(checked).get("controls", "")

    assert told(MAX_CONTROLS) == ""
    assert told(MAX_CONTROLS + 1).startswith("9 control images are too many")
    assert told(1, "pixart").startswith("This model does not support control images")
    assert told(1, "pixart", on=False) == ""
    assert told(1, "flux") == ""
    waiting = replace(CHECKED, settings=CreateSettings(controls=(ControlChoice(image="/a/edges.png"),)))
    assert problems(waiting)["controls"] == "Choose a ControlNet for edges.png."
    canny = replace(model_info("m", "flux"), variant="canny")
    assert "controls" not in problems(replace(waiting, info=canny))
    needs = "This model needs a control image without a ControlNet. Add one."
    assert problems(replace(CHECKED, info=canny))["controls"] == needs
