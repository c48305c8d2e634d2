"""Options to requests: the cascades that they mean, and what an earlier image keeps."""

from dataclasses import replace

import pytest

from mezzotint.batch.job.settings import request_of
from mezzotint.errors import UsageError
from mezzotint.options import Options, options_of
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)

WALK = Sampling(sampler="euler", schedule="karras", steps=20, guidance_scale=5.0)
BASE = Stage(model=ModelRef(id="base"), width=64, height=96, sampling=WALK)
SAID = Options(prompt="a barn", model="base", size=(64, 96), sampler="euler", schedule="karras", steps=20, guidance=5.0)


def cascade(**changes):
    return request_of(SAID.replace(**changes)).cascade


def test_a_prompt_alone_leaves_all_to_the_model():
    assert request_of(Options(prompt="a barn")) == GenerateRequest(prompt="a barn")


def test_one_stage():
    assert cascade() == Cascade(stages=(BASE,))


def test_a_refiner_does_the_last_part_of_the_schedule():
    refiner = Stage(model=ModelRef(id="fine"), sampling=WALK)
    stopped = Stage(model=ModelRef(id="base"), width=64, height=96, sampling=WALK, until=0.8)
    assert cascade(refiner="fine") == Cascade(stages=(stopped, refiner), transitions=(Transition(),))
    assert cascade(refiner="fine", refiner_at=0.6).stages[0].until == 0.6


def test_a_refiner_is_not_described_by_what_describes_the_base():
    stages = cascade(refiner="fine", prediction_type="v_prediction", zero_terminal_snr=True, clip_skip=2).stages
    assert stages[0].sampling.prediction_type == "v_prediction"
    assert stages[1].sampling == WALK


def test_a_second_pass_is_larger_and_by_the_same_model():
    second = Stage(model=ModelRef(id="base"), sampling=WALK)
    enlarged = Transition(scale=1.5, strength=0.5)
    assert cascade(hires=1.5) == Cascade(stages=(BASE, second), transitions=(enlarged,))


def test_how_the_second_pass_enlarges():
    changed = cascade(hires=2.0, hires_strength=0.3, hires_space="pixel", hires_upscaler="lanczos")
    assert changed.transitions == (Transition(scale=2.0, strength=0.3, space="pixel", upscaler="lanczos"),)


def test_a_conditional_refiner_comes_last_with_steps_and_noise_of_its_own():
    made = cascade(hires=1.5, refiner="fine", refine_with="large", condition_noise=0.2, clip_skip=1)
    assert [stage.model.id for stage in made.stages] == ["base", "base", "fine", "large"]
    assert made.stages[-1] == Stage(model=ModelRef(id="large"), sampling=replace(WALK, steps=10, condition_noise=0.2))
    assert made.transitions[-1] == Transition(scale=2.0, strength=1.0, refines=True)
    assert {stage.sampling.condition_noise for stage in made.stages[:-1]} == {None}
    alone = cascade(refine_with="large", refine_steps=4)
    assert alone.stages[0] == BASE and alone.stages[1].sampling == replace(WALK, steps=4)
    assert cascade(condition_noise=0.3).stages[0].sampling.condition_noise == 0.3  # to enlarge an image with --model


def test_a_conditional_refiner_is_read_back_as_options():
    said = SAID.replace(refiner="fine", refiner_at=0.5, refine_with="large", refine_steps=4, condition_noise=0.2)
    assert options_of(request_of(said)) == said


def test_a_recorded_conditional_refiner_keeps_what_is_its_own():
    recorded = request_of(SAID.replace(refine_with="large", refine_steps=4, condition_noise=0.2))
    changed = request_of(Options(steps=30, guidance=2.0), recorded).cascade
    assert [(stage.sampling.steps, stage.sampling.guidance_scale) for stage in changed.stages] == [(30, 2.0), (4, 2.0)]
    assert [stage.sampling.condition_noise for stage in changed.stages] == [None, 0.2]
    changed = request_of(Options(refine_steps=6, hires=2.0), recorded).cascade
    assert [stage.sampling.steps for stage in changed.stages] == [20, 20, 6]
    assert (changed.stages[2].model.id, changed.stages[2].sampling.condition_noise) == ("large", 0.2)
    assert [transition.refines for transition in changed.transitions] == [False, True]
    assert request_of(Options(condition_noise=0.4), recorded).cascade.stages[1].sampling.condition_noise == 0.4


def test_both_end_the_base_then_refine_the_second_pass():
    both = cascade(hires=1.5, refiner="fine", refiner_at=0.7)
    assert [stage.until for stage in both.stages] == [None, 0.7, None]
    assert [stage.model.id for stage in both.stages] == ["base", "base", "fine"]
    assert both.transitions == (Transition(scale=1.5, strength=0.5), Transition())


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (Options(), "prompt"),
        (Options(prompt="a", strength=0.5), "--init"),
        (Options(prompt="a", refiner_at=0.5), "--refiner"),
        (Options(prompt="a", refine_steps=5), "--refine-with"),
        (Options(prompt="a", variation_seed=5), "--variation-strength"),
        (Options(prompt="a", hires_strength=0.5), "--hires-strength"),
        (Options(prompt="a", hires_space="pixel"), "--hires-space"),
        (Options(prompt="a", hires_upscaler="nearest"), "--hires-upscaler"),
    ],
)
def test_an_option_that_needs_another_says_which(options, word):
    with pytest.raises(UsageError, match=word):
        request_of(options)


def test_everything_else_goes_where_it_belongs():
    said = Options(
        prompt="a",
        negative="b",
        seed=7,
        count=2,
        init="i.png",
        strength=0.4,
        embedding=("e.safetensors",),
        lora=(LoraRef(path="l.safetensors", weight=0.8),),
        device="cpu",
    )
    where = said.replace(dtype="float32", attention="sdpa", output="out/", overwrite=True, preview="steps")
    assert request_of(where) == GenerateRequest(
        prompt="a",
        negative_prompt="b",
        seed=7,
        count=2,
        images=(ImageInput(path="i.png"),),
        strength=0.4,
        embeddings=("e.safetensors",),
        loras=(LoraRef(path="l.safetensors", weight=0.8),),
        device="cpu",
        dtype="float32",
        attention="sdpa",
        output=Output(path="out/", overwrite=True, preview_folder="steps"),
    )


# ---- over an earlier image

NETWORK = Sampling(sampler="euler", schedule="karras", steps=20, prediction_type="epsilon", clip_skip=1)
EARLIER = GenerateRequest(
    prompt="a barn",
    negative_prompt="rain",
    seed=7,
    strength=0.4,
    dtype="float32",
    images=(ImageInput(path="i.png", sha256="0"),),
    cascade=Cascade(
        stages=(
            Stage(model=ModelRef(id="base"), width=64, height=64, prompt="a barn", sampling=NETWORK),
            Stage(model=ModelRef(id="base"), width=96, height=96, until=0.8, prompt="a barn", sampling=NETWORK),
            Stage(model=ModelRef(id="fine"), width=96, height=96, prompt="a barn", sampling=NETWORK),
        ),
        transitions=(Transition(scale=1.5, strength=0.5), Transition()),
    ),
)


def test_without_options_the_earlier_request_stays_but_for_its_output():
    from_hostile = GenerateRequest(prompt="a", output=Output(path="/home/me/.bashrc", overwrite=True))
    assert request_of(Options(output="out/"), from_hostile) == GenerateRequest(prompt="a", output=Output(path="out/"))
    assert request_of(Options(), EARLIER) == EARLIER


def test_another_prompt_reaches_every_stage():
    changed = request_of(Options(prompt="a boat"), EARLIER)
    assert changed.prompt == "a boat"
    assert {stage.prompt for stage in changed.cascade.stages} == {None}


def test_another_size_keeps_the_scales():
    stages = request_of(Options(size=(128, 96)), EARLIER).cascade.stages
    assert [(stage.width, stage.height) for stage in stages] == [(128, 96), (None, None), (None, None)]


def test_another_model_takes_the_stages_of_the_first_and_none_of_its_description():
    stages = request_of(Options(model="new"), EARLIER).cascade.stages
    assert [stage.model.id for stage in stages] == ["new", "new", "fine"]
    assert [stage.sampling.prediction_type for stage in stages] == [None, None, "epsilon"]
    assert [stage.sampling.clip_skip for stage in stages] == [None, None, 1]
    assert {stage.sampling.steps for stage in stages} == {20}


def test_another_sampler_drops_the_schedule_that_was_for_the_old_one():
    sampling = request_of(Options(sampler="lcm"), EARLIER).cascade.stages[0].sampling
    assert (sampling.sampler, sampling.schedule) == ("lcm", None)
    sampling = request_of(Options(sampler="heun", schedule="simple"), EARLIER).cascade.stages[0].sampling
    assert (sampling.sampler, sampling.schedule) == ("heun", "simple")


def test_steps_and_guidance_reach_every_stage():
    stages = request_of(Options(steps=9, guidance=2.0), EARLIER).cascade.stages
    assert {(stage.sampling.steps, stage.sampling.guidance_scale) for stage in stages} == {(9, 2.0)}


@pytest.mark.parametrize(
    ("options", "models", "transition", "until"),
    [
        (Options(refiner="other"), ["base", "base", "other"], Transition(scale=1.5, strength=0.5), 0.8),
        (Options(refiner_at=0.6), ["base", "base", "fine"], Transition(scale=1.5, strength=0.5), 0.6),
        (Options(hires=2.0), ["base", "base", "fine"], Transition(scale=2.0, strength=0.5), 0.8),
        (Options(hires_strength=0.3), ["base", "base", "fine"], Transition(scale=1.5, strength=0.3), 0.8),
    ],
)
def test_one_part_of_a_cascade_is_changed_and_the_others_stay(options, models, transition, until):
    cascade = request_of(options, EARLIER).cascade
    assert [stage.model.id for stage in cascade.stages] == models
    assert cascade.transitions == (transition, Transition())
    assert [stage.until for stage in cascade.stages] == [None, until, None]


def test_another_network_has_its_own_rescale():
    sampling = Sampling(guidance_rescale=0.7)
    base = replace(EARLIER, cascade=Cascade(stages=(Stage(model=ModelRef(id="base"), sampling=sampling),)))
    assert request_of(Options(model="other"), base).cascade.stages[0].sampling.guidance_rescale is None
    assert request_of(Options(steps=3), base).cascade.stages[0].sampling.guidance_rescale == 0.7


def test_another_init_image_and_strength():
    changed = request_of(Options(init="other.png"), EARLIER)
    assert changed.images == (ImageInput(path="other.png"),)
    assert changed.strength == 0.4
    assert request_of(Options(strength=0.9), EARLIER).strength == 0.9


def test_loras_said_anew_take_the_place_of_all_that_were_recorded():
    old, new = (LoraRef(path=path, weight=0.5, sha256="0" * 64) for path in ("old", "new"))
    stage = Stage(loras=(old,))
    base = replace(EARLIER, loras=(old,), cascade=Cascade(stages=(stage, stage), transitions=(Transition(),)))
    assert request_of(Options(), base).loras == (old,)
    assert [stage.loras for stage in request_of(Options(), base).cascade.stages] == [(old,), (old,)]
    again = request_of(Options(lora=(new,)), base)
    assert again.loras == (new,) and [stage.loras for stage in again.cascade.stages] == [None, None]


def test_a_second_pass_has_the_loras_of_the_first():
    request = request_of(Options(prompt="a", hires=1.5, refiner="r", lora=(LoraRef(path="l"),)))
    assert len(request.cascade.stages) == 3 and {stage.loras for stage in request.cascade.stages} == {None}


def test_other_components_are_of_the_base_alone():
    whole = ModelRef(id="base", vae="v.safetensors", text_encoders=("t.safetensors", "c.safetensors"))
    files = {"vae": "v.safetensors", "text_encoder": ("t.safetensors", "c.safetensors")}
    assert [stage.model for stage in cascade(**files, refiner="fine").stages] == [whole, ModelRef(id="fine")]
    assert [stage.model for stage in cascade(**files, hires=1.5).stages] == [whole, whole]
    with pytest.raises(UsageError, match="--vae and --text-encoder require a model: name it with --model"):
        request_of(Options(prompt="a barn", vae="v.safetensors"))


def test_other_components_than_those_of_an_earlier_image():
    made = ModelRef(id="base", sha256="0" * 64, vae="old.safetensors", text_encoders=("t.safetensors",))
    base = GenerateRequest(prompt="a barn", cascade=Cascade(stages=(replace(BASE, model=made),)))
    kept, changed, other = (
        request_of(options, base).cascade.stages[0].model
        for options in (Options(seed=1), Options(vae="new.safetensors"), Options(model="another"))
    )
    assert kept == made
    assert changed == replace(made, sha256=None, vae="new.safetensors")
    assert other == ModelRef(id="another")


def test_components_are_read_back_as_options():
    request = request_of(SAID.replace(vae="v.safetensors", text_encoder=("t.safetensors",)))
    assert request_of(options_of(request)) == request
