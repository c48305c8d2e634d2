"""What an image says is compared with what is set; nothing is applied by itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from mezzotint.protocol import (  # noqa: E402
    Cascade,
    GenerateRequest,
    ImageMetadata,
    ModelDefaults,
    ModelInfo,
    ModelRef,
    Sampling,
    Stage,
)
from mezzotint_app.viewmodel.dropped.differences import DifferencesModel, differences  # noqa: E402

FIELDS = (
    "prompt",
    "negative_prompt",
    "width",
    "height",
    "seed",
    "steps",
    "sampler",
    "schedule",
    "guidance_scale",
    "strength",
    "model",
    "model_hash",
    "request",
)


def says(program="a1111", other=None, **values):
    return ImageMetadata(program=program, other=other or {}, **(dict.fromkeys(FIELDS) | values))


def listed(identity):
    return ModelInfo(
        id=identity,
        path=identity,
        layout="file",
        family="sdxl",
        variant="",
        bytes=1,
        source="",
        defaults=None,
        problem=None,
    )


class Heard:
    def __init__(self, model):
        self.applied, self.used = [], []
        model.apply_wanted.connect(lambda metadata, what: self.applied.append((metadata, what)))
        model.use_as_input.connect(self.used.append)


@pytest.fixture
def now():
    return GenerateRequest(
        prompt="a house", seed=4, cascade=Cascade(stages=(Stage(model=ModelRef(id="sdxl-base-1.0")),))
    )


@pytest.fixture
def model(service, now):
    return DifferencesModel(service, lambda: now, lambda: (listed("sdxl-base-1.0"), listed("pixart-sigma")))


@given(st.text(max_size=50), st.text(max_size=50), st.integers(0, 2**63 - 1))
def test_a_setting_is_listed_where_it_is_another(prompt, other, seed):
    found = differences(GenerateRequest(prompt=prompt, seed=seed), says(prompt=other, seed=seed))
    assert [one.key for one in found] == (["prompt"] if prompt != other else [])


@given(st.text(max_size=50))
def test_a_request_does_not_differ_from_itself(prompt):
    request = GenerateRequest(prompt=prompt)
    assert differences(request, says("mezzotint", request=request)) == ()


def test_what_the_model_takes_by_itself_is_no_difference_to_the_same_in_the_image():
    own = ModelDefaults(width=128, height=128, steps=20, guidance_scale=3.0, sampler="euler", schedule="default")
    how = Sampling(sampler="euler", schedule="default", steps=20, guidance_scale=3.0, guidance_rescale=0.0, clip_skip=0)
    base = ModelRef(id="base")
    made = GenerateRequest(
        prompt="a boat",
        seed=7,
        cascade=Cascade(stages=(Stage(model=base, width=128, height=128, sampling=how),)),
        quantization="none",
    )
    now = GenerateRequest(prompt="a boat", seed=7, cascade=Cascade(stages=(Stage(model=base),)))
    assert differences(now, says("mezzotint", request=made), own) == ()
    other = replace(how, sampler="dpmpp_2m", steps=30)
    made = replace(made, cascade=Cascade(stages=(Stage(model=base, width=128, height=128, sampling=other),)))
    found = differences(now, says("mezzotint", request=made), own)
    assert [(one.name, one.now, one.there) for one in found] == [
        ("Steps", "20 (default)", "30"),
        ("Sampler", "Euler (default)", "DPM++ 2M"),
    ]


def test_samplers_of_other_programs_are_told_by_their_names_too(now):
    found = differences(now, says(sampler="dpmpp_2m_sde"))
    assert [(one.now, one.there) for one in found if one.key == "sampler"] == [("model default", "DPM++ 2M SDE")]


def test_the_defaults_are_those_of_the_present_model(service, now):
    own = ModelDefaults(width=128, height=128, steps=20, guidance_scale=3.0)
    model = DifferencesModel(service, lambda: now, lambda: (replace(listed("sdxl-base-1.0"), defaults=own),))
    model.set_current("/a.png")
    service.answer(says(prompt="a house", steps=20, width=128, height=128))
    assert model.found() == ()


def test_reading_then_read(model, service, now):
    heard = Heard(model)
    model.set_current("/a.png")
    assert (model.state(), service.last("metadata").params) == ("reading", {"path": "/a.png"})
    assert not model.says_anything()
    service.answer(says(prompt="a barn", seed=9, steps=30))
    assert model.state() == "read"
    assert {one.key: (one.now, one.there) for one in model.found()}["seed"] == ("4", "9")
    assert (model.says_anything(), model.says_prompt(), model.says_seed()) == (True, True, True)
    assert heard.applied == []
    model.apply("seed")
    model.use_image()
    assert heard.applied == [(model.metadata(), "seed")]
    assert heard.used == ["/a.png"]


def test_the_answer_for_an_older_image_is_dropped(model, service):
    model.set_current("/a.png")
    model.set_current("/b.png")
    service.answer(says(prompt="of a"), call=1)
    assert model.metadata() is None
    service.answer(says(prompt="of b"), call=2)
    assert model.metadata().prompt == "of b"
    model.set_current("/c.png")
    model.set_current("/d.png")
    service.fail(call=3)
    assert model.state() == "reading"


def test_an_image_that_cannot_be_read_says_why(model, service):
    heard = Heard(model)
    model.set_current("/a.png")
    service.fail("image_refused", "/a.png is damaged")
    assert (model.state(), model.problem()) == ("failed", "/a.png is damaged")
    model.apply("all")
    assert heard.applied == []


def test_an_image_that_says_nothing(model, service):
    model.set_current("/a.png")
    service.answer(says("unknown", width=5, height=5))
    assert (model.says_anything(), model.says_prompt(), model.says_seed()) == (False, False, False)


def test_a_missing_model_and_the_nearest_are_told(model, service):
    heard = Heard(model)
    model.set_current("/a.png")
    service.answer(says(prompt="x", model="sd_xl_base_1.0_0.9vae.safetensors"))
    assert model.missing_model() == "sd_xl_base_1.0_0.9vae.safetensors"
    assert model.nearest().id == "sdxl-base-1.0"
    model.apply("all")
    model.apply("all", with_nearest=True)
    assert [metadata.model for metadata, _ in heard.applied] == ["sd_xl_base_1.0_0.9vae.safetensors", "sdxl-base-1.0"]


def test_a_model_that_is_here_is_not_missing(model, service):
    model.set_current("/a.png")
    service.answer(says(prompt="x", model="SDXL-base-1.0.safetensors"))
    assert (model.missing_model(), model.nearest()) == ("", None)


def test_before_the_list_of_models_is_there_none_is_missing(service, now):
    model = DifferencesModel(service, lambda: now, tuple)
    model.set_current("/a.png")
    service.answer(says(prompt="x", model="anything"))
    assert model.missing_model() == ""


def test_what_could_not_be_read_is_noted(model, service):
    model.set_current("/a.png")
    service.answer(says(prompt="x", other={"note": "a text of 70 MB was not read"}))
    assert model.note() == "a text of 70 MB was not read"
