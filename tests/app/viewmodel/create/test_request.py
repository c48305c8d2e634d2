"""The form states what the command line would, and the engine's own checks take it."""

from create_forms import FORMS
from hypothesis import given

from mezzotint.batch.job.settings import request_of as request_of_options
from mezzotint.codec import from_json, to_json
from mezzotint.options import Options
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, Inpaint, ModelRef, Sampling, Stage, Transition
from mezzotint.request_protocol import HIRES_SCALE
from mezzotint_app.viewmodel.create.request import Form, request_of
from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice


def test_an_untouched_page_asks_for_the_models_own():
    cascade = Cascade(stages=(Stage(model=ModelRef(id="m")),))
    assert request_of(Form(model="m", prompt="a house")) == GenerateRequest(
        prompt="a house", previews=True, cascade=cascade
    )


@given(FORMS)
def test_the_cascade_is_the_command_lines(form):
    said = form.settings
    options = Options(
        prompt=form.prompt,
        model=form.model or None,
        size=(said.width, said.height) if said.width else None,
        steps=said.steps,
        guidance=said.guidance_scale,
        guidance_rescale=said.guidance_rescale,
        sampler=said.sampler,
        schedule=said.schedule,
        clip_skip=said.clip_skip,
        prediction_type=said.prediction_type,
        zero_terminal_snr=said.zero_terminal_snr,
        weights=said.weights,
        vae=said.vae,
        text_encoder=said.text_encoders,
        refiner=said.refiner,
        refiner_at=said.refiner_at,
        hires=(said.second_scale or HIRES_SCALE) if said.second_pass else None,
        hires_strength=said.second_strength if said.second_pass else None,
        hires_space=said.second_space if said.second_pass else None,
        hires_upscaler=said.second_upscaler if said.second_pass else None,
        refine_with=said.refine_with,
        refine_steps=said.refine_steps,
        condition_noise=said.condition_noise,
    )
    assert request_of(form).cascade == request_of_options(options).cascade


@given(FORMS)
def test_every_request_passes_the_boundary(form):
    request = request_of(form)
    assert from_json(GenerateRequest, to_json(request)) == request


def test_a_second_pass_and_a_refiner_together():
    said = CreateSettings(second_pass=True, refiner="r", steps=12, sampler="euler", clip_skip=1)
    cascade = request_of(Form(model="m", prompt="a", settings=said)).cascade
    assert [stage.model for stage in cascade.stages] == [ModelRef(id="m"), ModelRef(id="m"), ModelRef(id="r")]
    assert [stage.until for stage in cascade.stages] == [None, 0.8, None]
    assert cascade.transitions == (Transition(scale=1.5, strength=0.5), Transition())
    assert (cascade.stages[2].sampling.sampler, cascade.stages[2].sampling.clip_skip) == ("euler", None)


def test_what_a_conditional_refiner_alone_has_is_left_out_without_one():
    said = CreateSettings(condition_noise=0.3, refine_steps=5, guidance_scale=3.0)
    assert request_of(Form(model="m", prompt="a", settings=said)).cascade.stages == (
        Stage(model=ModelRef(id="m"), sampling=Sampling(guidance_scale=3.0)),
    )


def test_strength_and_mask_are_said_only_with_an_image():
    form = Form(model="m", prompt="a", strength=0.5, inpaint=Inpaint())
    assert (request_of(form).strength, request_of(form).inpaint) == (None, None)
    inputs = (ImageInput(path="p"),)
    whole = request_of(Form(model="m", prompt="a", strength=0.5, inpaint=Inpaint(), images=inputs))
    assert (whole.strength, whole.inpaint, whole.images) == (0.5, Inpaint(), inputs)


def test_a_lora_that_is_off_is_not_asked_for():
    said = CreateSettings(loras=(LoraChoice(path="a", on=False), LoraChoice(path="b", weight=0.3)))
    assert [(one.path, one.weight) for one in request_of(Form(model="m", prompt="a", settings=said)).loras] == [
        ("b", 0.3)
    ]
