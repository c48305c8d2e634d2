"""What an image says comes back into the form; what has no place there is told."""

from dataclasses import replace

import pytest
from create_forms import FORMS
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageMetadata,
    Inpaint,
    LoraNamed,
    ModelRef,
    Sampling,
    Stage,
    Transition,
)
from mezzotint_app.viewmodel.create.reading import read_metadata, read_request
from mezzotint_app.viewmodel.create.request import Form, request_of
from mezzotint_app.viewmodel.create.state import CreateSettings

FOREIGN = ImageMetadata(
    program="a1111",
    prompt="a house",
    negative_prompt="fog",
    width=832,
    height=1216,
    seed=7,
    steps=25,
    sampler="dpmpp_2m",
    schedule="karras",
    guidance_scale=6.5,
    strength=None,
    model="C:\\models\\realistic",
    model_hash=None,
    request=None,
    other={},
)


def known(name):
    return f"{name}.safetensors" if name == "realistic" else None


@given(FORMS)
def test_a_request_of_the_page_comes_back_whole(form):
    request = request_of(form)
    reading = read_request(request)
    assert reading.left_out == ()
    again = replace(
        form,
        model=reading.model or "",
        prompt=reading.prompt,
        negative_prompt=reading.negative_prompt,
        settings=reading.settings,
        seed=reading.seed,
    )
    assert request_of(again) == request


def test_a_settled_request_with_every_value_said_comes_back():
    """As images of ours carry it: sizes and samplings of all stages are there."""
    base = Sampling(sampler="euler", schedule="default", steps=9, guidance_scale=3.0, guidance_rescale=0.0, clip_skip=0)
    model = ModelRef(id="m", sha256="0" * 64)
    stages = (
        Stage(model=model, width=128, height=128, sampling=base, prompt="a", negative_prompt=""),
        Stage(model=model, width=192, height=192, sampling=base, prompt="a", negative_prompt="", until=0.7),
        Stage(
            model=ModelRef(id="r"),
            width=192,
            height=192,
            prompt="a",
            negative_prompt="",
            sampling=replace(base, prediction_type="epsilon"),
        ),
    )
    transitions = (Transition(scale=1.5, strength=0.4), Transition(scale=1.0))
    reading = read_request(GenerateRequest(prompt="a", cascade=Cascade(stages=stages, transitions=transitions), seed=3))
    assert reading.left_out == ()
    assert (reading.settings.refiner, reading.settings.refiner_at) == ("r", 0.7)
    assert (reading.settings.second_scale, reading.settings.second_strength) == (1.5, 0.4)


@pytest.mark.parametrize(
    ("stage", "transition", "told"),
    [
        (Stage(width=999), Transition(scale=1.5, strength=0.5), "size of the hires fix"),
        (Stage(sampling=Sampling(steps=3)), Transition(scale=1.5, strength=0.5), "settings of the hires fix"),
        (Stage(model=ModelRef(id="r"), sampling=Sampling(steps=3)), Transition(), "settings of the refiner"),
        (Stage(model=ModelRef(id="r")), Transition(strength=0.3), "stage 2"),
        (
            Stage(model=ModelRef(id="r"), sampling=Sampling(guidance_scale=3.0)),
            Transition(scale=2.0, strength=1.0, refines=True),
            "settings of the conditional refiner",
        ),
        (Stage(prompt="other"), Transition(strength=0.5), "prompts"),
    ],
)
def test_what_has_no_place_is_told(stage, transition, told):
    first = Stage(model=ModelRef(id="m"), width=128, height=128)
    request = GenerateRequest(prompt="a", cascade=Cascade(stages=(first, stage), transitions=(transition,)))
    assert told in " ".join(read_request(request).left_out)


def test_foreign_settings_are_put_onto_those_that_are_there():
    onto = CreateSettings(clip_skip=1, steps=5, schedule="exponential", compile=True)
    reading = read_metadata(FOREIGN, onto, known)
    assert reading.left_out == ()
    assert (reading.model, reading.seed) == ("realistic.safetensors", 7)
    assert reading.settings == CreateSettings(
        clip_skip=1,
        compile=True,
        steps=25,
        guidance_scale=6.5,
        sampler="dpmpp_2m",
        schedule="karras",
        width=832,
        height=1216,
    )


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("steps", 0, "steps 0"),
        ("guidance_scale", float("nan"), "guidance nan"),
        ("sampler", "restart", "sampler restart"),
        ("schedule", "bong_tangent", "schedule bong_tangent"),
        ("seed", -1, "seed -1"),
        ("model", "../../stranger", "model stranger"),
    ],
)
def test_foreign_values_that_mean_nothing_here_are_told(field, value, told):
    reading = read_metadata(replace(FOREIGN, **{field: value}), CreateSettings(), known)
    assert told in " ".join(reading.left_out)


def test_the_second_pass_and_the_refiner_of_others_are_read():
    found = replace(FOREIGN, hires_scale=1.5, hires_space="latent", hires_upscaler="bilinear", strength=0.4)
    reading = read_metadata(replace(found, refiner=FOREIGN.model, refiner_at=0.7), CreateSettings(), known)
    settings_ = reading.settings
    assert (settings_.second_pass, settings_.second_scale, settings_.second_strength) == (True, 1.5, 0.4)
    assert (settings_.second_space, settings_.second_upscaler) == ("latent", "bilinear")
    assert (settings_.refiner, settings_.refiner_at) == ("realistic.safetensors", 0.7)
    assert reading.left_out == ()


def test_distilled_guidance_of_others_stands_beside_the_cfg_scale():
    settings_ = read_metadata(
        replace(FOREIGN, guidance_scale=1.0, distilled_guidance_scale=3.5), CreateSettings(), known
    ).settings
    assert (settings_.guidance_scale, settings_.true_cfg_scale) == (3.5, 1.0)


def test_what_the_page_does_not_read_of_others_is_told():
    found = replace(
        FOREIGN, clip_skip=1, hires_steps=7, strength=0.3, inpaint=Inpaint(), loras=(LoraNamed(name="style"),)
    )
    told = read_metadata(replace(found, unused=("Eta 0.5",)), CreateSettings(), known).left_out
    assert told == (
        "Clip skip 1",
        "settings of the hires fix (7)",
        "Strength 0.3",
        "Init image",
        "LoRA style",
        "Eta 0.5",
    )
    found = replace(FOREIGN, hires_scale=2.0, hires_upscaler="4x-Sharp")
    assert read_metadata(found, CreateSettings(), known).left_out == ("settings of the hires fix (4x-Sharp)",)


ANY = st.none() | st.integers() | st.floats() | st.text(max_size=9)


@given(
    st.builds(
        ImageMetadata,
        program=st.text(max_size=5),
        prompt=st.none() | st.text(max_size=9),
        negative_prompt=st.none() | st.text(max_size=9),
        width=st.none() | st.integers(),
        height=st.none() | st.integers(),
        seed=st.none() | st.integers(),
        steps=st.none() | st.integers(),
        sampler=st.none() | st.text(max_size=9),
        schedule=st.none() | st.text(max_size=9),
        guidance_scale=st.none() | st.floats(),
        strength=st.none() | st.floats(),
        variation_seed=st.none() | st.integers(),
        variation_strength=st.none() | st.floats(),
        model=st.none() | st.text(max_size=9),
        model_hash=st.none(),
        request=st.none(),
        other=st.just({}),
    )
)
def test_whatever_a_stranger_wrote_gives_settings_that_can_be_kept(metadata):
    reading = read_metadata(metadata, CreateSettings(), lambda _: None)
    settings_ = reading.settings
    assert settings_.steps is None or 1 <= settings_.steps <= 1000
    assert settings_.guidance_scale is None or 0 <= settings_.guidance_scale <= 100
    assert (settings_.variation_seed or 0) >= 0 and 0 <= (settings_.variation_strength or 0) <= 1
    assert (settings_.width is None) == (settings_.height is None)
    assert reading.seed is None or reading.seed >= 0
    request_of(Form(model="m", prompt=reading.prompt or "", settings=settings_, seed=reading.seed))
