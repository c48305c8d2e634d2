"""Which requests may be made together: what changes the network's work tells them apart, and nothing else."""

from dataclasses import fields, replace

import pytest

from mezzotint.protocol import (
    Cascade,
    ControlRef,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.stages.together import batch_key, same_batch
from mezzotint.values.details import DetailRef
from mezzotint.values.regions import RegionRef

MASK, REFERENCE = ImageInput(path="m.png", role="mask"), ImageInput(path="r.png", role="reference")
PLAIN = GenerateRequest(prompt="a red house", images=(ImageInput(path="a.png", sha256="1"),))
STAGE = Stage(model=ModelRef(id="a"))
CONTROL = ControlRef(image="a.png", model="canny.safetensors")

FREE = {
    "prompt": "a boat",
    "negative_prompt": "rain",
    "styles": ("Ink drawing",),
    "seed": 3,
    "images": (ImageInput(path="b.png"),),
    "output": Output(path="elsewhere", overwrite=True),
}
TOGETHER_APART = {
    "cascade": Cascade(stages=(STAGE,)),
    "inpaint": Inpaint(),
    "count": 2,
    "strength": 0.3,
    "init_upscaler": "2x",
    "init_upscaler_sha256": "0" * 64,
    "device": "cpu",
    "dtype": "float16",
    "attention": "sdpa",
    "quantization": "int8",
    "text_quantization": "int8",
    "embeddings": ("a.safetensors",),
    "loras": (LoraRef(path="a.safetensors"),),
    "controls": (CONTROL,),
    "memory": "lowest",
    "vram_limit_bytes": 10**9,
    "ram_limit_bytes": 10**9,
    "vae_tile": 256,
    "strict": True,
    "fast": True,
    "cuda_graphs": "on",
}
ALONE = {
    "previews": True,
    "regions": (RegionRef(box=(0, 0, 1, 1), prompt="a boat"),),
    "details": (DetailRef(label="face"),),
    "compile": True,
    "output": Output(preview_folder="shown"),
}


def test_every_field_is_thought_of():
    assert {field.name for field in fields(GenerateRequest)} == {*FREE, *TOGETHER_APART, *ALONE}


@pytest.mark.parametrize("field", FREE)
def test_what_may_differ(field):
    other = replace(PLAIN, **{field: FREE[field]})
    assert same_batch(PLAIN, other) and batch_key(other) == batch_key(PLAIN)
    assert isinstance(hash(batch_key(other)), int)


@pytest.mark.parametrize("field", TOGETHER_APART)
def test_what_must_be_the_same(field):
    other = replace(PLAIN, **{field: TOGETHER_APART[field]})
    assert not same_batch(PLAIN, other)
    assert same_batch(other, replace(other, prompt="a boat"))


def test_control_images_may_differ_but_not_their_networks():
    def with_control(**changes):
        return replace(PLAIN, controls=(replace(CONTROL, **changes),))

    assert same_batch(with_control(), with_control(image="b.png", image_sha256="1"))
    for changes in ({"model": "depth.safetensors"}, {"weight": 0.5}, {"end": 0.5}, {"type": "canny"}):
        assert not same_batch(with_control(), with_control(**changes))


@pytest.mark.parametrize("field", ALONE)
def test_what_is_made_alone(field):
    other = replace(PLAIN, **{field: ALONE[field]})
    assert batch_key(other) is None and not same_batch(other, other)


def test_a_step_cache_decides_for_each_image_alone():
    other = replace(PLAIN, cascade=Cascade(stages=(Stage(sampling=Sampling(step_cache=0.1)),)))
    assert batch_key(other) is None


@pytest.mark.parametrize("image", [MASK, REFERENCE])
def test_images_of_any_role_may_differ_and_their_roles_may_not(image):
    one = replace(PLAIN, images=(*PLAIN.images, image))
    assert same_batch(one, replace(one, images=(*PLAIN.images, replace(image, path="other.png"))))
    assert not same_batch(one, PLAIN) and not same_batch(one, replace(one, images=(*one.images, image)))


def test_stages_are_those_of_all_and_may_have_words_of_their_own():
    two = Cascade(stages=(STAGE, Stage(width=128)), transitions=(Transition(strength=0.5),))
    one, other, stronger = (
        replace(PLAIN, cascade=cascade)
        for cascade in (
            two,
            replace(two, stages=(STAGE, Stage(width=128, prompt="a boat"))),
            replace(two, transitions=(Transition(strength=0.6),)),
        )
    )
    assert same_batch(one, other) and not same_batch(one, stronger) and not same_batch(one, PLAIN)


def test_words_of_a_stage_may_differ_and_its_settings_may_not():
    one, words, steps = (
        replace(PLAIN, cascade=Cascade(stages=(stage,)))
        for stage in (STAGE, replace(STAGE, prompt="a boat"), replace(STAGE, sampling=Sampling(steps=3)))
    )
    assert same_batch(one, words) and not same_batch(one, steps)


def test_images_that_count_otherwise_are_told_apart():
    other = replace(PLAIN, images=(ImageInput(path="a.png", weight=0.5),))
    assert not same_batch(PLAIN, other) and not same_batch(PLAIN, replace(PLAIN, images=()))
