"""Sizes that are offered can be made."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import ModelDefaults, ModelInfo
from mezzotint.stages.images.sizes import check_size
from mezzotint_app.viewmodel.create import sizes


def model(family="sdxl", width=1024, height=None):
    return ModelInfo(
        id="m",
        path="/m",
        layout="folder",
        family=family,
        variant="base",
        bytes=1,
        source="path",
        defaults=ModelDefaults(width=width, height=height or width, steps=20, guidance_scale=5.0),
        problem=None,
    )


MODELS = st.builds(
    model,
    st.sampled_from(["sdxl", "pixart"]),
    st.sampled_from([64, 128, 256, 512, 768, 1024, 2048]),
    st.sampled_from([None, 128, 512, 1024]),
)


@given(MODELS)
def test_presets_are_sizes_that_the_engine_takes_and_of_about_one_area(info):
    own = sizes.own_size(info)
    for preset in sizes.presets(info):
        check_size(preset.width, preset.height, sizes.multiple_of(info))
        if min(own) >= 256:
            assert preset.width * preset.height == pytest.approx(own[0] * own[1], rel=0.2)
    first = sizes.presets(info)[0]
    assert first.name == "1:1"
    assert first.width == first.height


def test_sdxl_gets_the_sizes_that_it_was_trained_on():
    found = {one.name: (one.width, one.height) for one in sizes.presets(model())}
    assert found["16:9"] == (1344, 768)
    assert found["3:2"] == (1216, 832)
    assert found["9:16"] == (768, 1344)
    assert len(found) == 9


def test_a_small_model_gets_small_sizes():
    assert (sizes.presets(model(width=128))[0].width, sizes.presets(model(width=128))[0].height) == (128, 128)
    wide = next(one for one in sizes.presets(model("pixart", 128)) if one.name == "16:9")
    assert wide.width % 16 == wide.height % 16 == 0
    assert wide.width > wide.height


def test_nothing_known_of_a_model_is_no_reason_to_offer_nothing():
    assert len(sizes.presets(None)) == 9
    assert sizes.own_size(None) == (1024, 1024)


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([8, 16, 64]))
def test_any_side_becomes_one_that_can_be_made(pixels, multiple):
    side = sizes.snapped(pixels, multiple)
    assert side % multiple == 0
    assert sizes.SMALLEST <= side <= sizes.LARGEST_SIDE


@given(st.integers(64, 8192), st.floats(0.1, 10), st.sampled_from([8, 16]))
def test_the_other_side_keeps_the_ratio_as_well_as_it_can(side, ratio, multiple):
    other = sizes.other_side(side, ratio, multiple)
    if sizes.SMALLEST + multiple < side * ratio < sizes.LARGEST_SIDE - multiple:
        assert abs(other - side * ratio) <= multiple / 2


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_shape_is_told_as_it_is(width, height):
    told = sizes.shape(width, height).split(":")
    assert float(told[0]) / float(told[1]) == pytest.approx(width / height, abs=0.006)


def test_a_size_is_recognised_as_a_preset():
    assert sizes.preset_of(model(), 1344, 768).name == "16:9"
    assert sizes.preset_of(model(), 1344, 760) is None
    assert sizes.shape(0, 5) == ""
    assert math.isclose(sizes.other_side(1000, 0.75, 8), 752)
