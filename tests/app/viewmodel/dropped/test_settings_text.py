"""Settings as text."""

from gallery_made import metadata
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Stage, Transition
from mezzotint_app.viewmodel.dropped.settings_text import request_of, settings_text, shown_settings


def test_one_line_of_names_and_values_after_the_words():
    text = settings_text(
        metadata(prompt="a hare", width=64, height=32, guidance_scale=5.0, sampler="euler", model="a, b", strength=0.5)
    )
    assert text == 'a hare\nSampler: euler, CFG scale: 5, Size: 64x32, Model: "a, b", Denoising strength: 0.5'


def test_nothing_known_is_nothing_said():
    assert settings_text(metadata(program="unknown")) == ""
    assert shown_settings(metadata(program="unknown")) == []


@given(st.text(max_size=30))
def test_values_never_begin_a_line_of_their_own(model):
    assert settings_text(metadata(prompt="a", model=model, seed=1)).count("\n") == 1


def test_second_pass_clip_skip_and_distilled_guidance_are_part_of_the_text():
    text = settings_text(
        metadata(prompt="a", guidance_scale=1.0, distilled_guidance_scale=3.5, clip_skip=1, hires_scale=2.0)
    )
    assert text == "a\nCFG scale: 1, Distilled CFG Scale: 3.5, Clip skip: 2, Hires upscale: 2"


def test_names_are_shown_with_their_values():
    shown = dict(shown_settings(metadata(model="m", seed=4, guidance_scale=5.5)))
    assert shown == {"Model": "m", "Seed": "4", "CFG scale": "5.5", "Made with": "Mezzotint"}


def test_hires_fix_and_refiner_are_shown():
    base, refiner = ModelRef(id="base"), ModelRef(id="refiner")
    cascade = Cascade(
        stages=(
            Stage(model=base),
            Stage(model=base, until=0.8),
            Stage(model=refiner),
            Stage(model=ModelRef(id="large")),
        ),
        transitions=(
            Transition(scale=1.5, strength=0.4),
            Transition(),
            Transition(scale=2.0, strength=1.0, refines=True),
        ),
    )
    shown = dict(shown_settings(metadata(request=GenerateRequest(prompt="a hare", cascade=cascade))))
    assert shown["Hires fix"] == "1.5 ×, denoising strength 0.4"
    assert shown["Refiner"] == "refiner, from 80% of the steps"
    assert shown["Refined with"] == "large, 2 ×"


def test_the_request_is_ours_or_what_carries_over():
    ours = GenerateRequest(prompt="a hare")
    assert request_of(metadata(request=ours)) is ours
    other = request_of(metadata(program="a1111", prompt="a fox", seed=3, width=64, height=32, steps=9))
    assert (other.prompt, other.seed) == ("a fox", 3)
    assert (other.cascade.stages[0].width, other.cascade.stages[0].sampling.steps) == (64, 9)
