"""Earlier images as a start: ours whole, foreign ones as far as they are known."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.job.from_metadata import Installed, request_from_metadata
from mezzotint.errors import UsageError
from mezzotint.protocol import (
    GenerateRequest,
    ImageMetadata,
    Inpaint,
    LoraNamed,
    LoraRef,
    ModelRef,
    Sampling,
    Stage,
    Transition,
)

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


def read(has_init=False, has_mask=False, family="sd15", is_model=lambda name: name == "base", **changes):
    installed = Installed(
        is_model=is_model,
        loras=lambda: {"Style": Path("/loras/Style.safetensors")},
        upscalers=lambda: ("4x-Sharp",),
        family=lambda _: family,
    )
    return request_from_metadata(metadata(**changes), "a.png", installed, has_init=has_init, has_mask=has_mask)


def lost(**changes):
    *found, last = read(**changes).unused
    assert last == "its noise and arithmetic (the new image will differ)"
    return found


def taken(**changes):
    return read(**changes).take(lambda _: None)


def guessed(**changes):
    return [str(each) for each in read(**changes).guesses]


@pytest.mark.parametrize(("seed", "ours"), [(7, 7), (2**32 + 7, 7), (2**64 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1)])
def test_a_large_seed_is_that_of_the_noise_that_it_made(seed, ours):
    assert taken(seed=seed).seed == ours


def test_ours_is_taken_whole():
    request = GenerateRequest(prompt="mine", seed=3)
    told = []
    assert read(request=request).take(told.append) == request
    assert told == []


def test_what_is_known_of_a_foreign_image_is_taken():
    request = taken()
    assert (request.prompt, request.negative_prompt, request.seed, request.count) == ("a barn", "rain", 7, 1)
    sampling = Sampling(sampler="euler_a", schedule="karras", steps=20, guidance_scale=6.5)
    stage = Stage(model=ModelRef(id="base"), width=512, height=768, sampling=sampling)
    assert request.cascade.stages == (stage,)
    assert read().notices() == (
        "a.png, made by a1111: not used: its noise and arithmetic (the new image will differ)",
        "a.png, made by a1111: base is assumed, from its name; --model overrides it",
    )


@pytest.mark.parametrize(
    ("field", "value", "named"),
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
def test_what_cannot_be_taken_is_told(field, value, named):
    assert lost(**{field: value}) == [named]


def test_clip_skip_is_counted_as_the_family_counts_it():
    assert taken(clip_skip=1).cascade.stages[0].sampling.clip_skip == 1
    assert taken(clip_skip=3, family="sdxl").cascade.stages[0].sampling.clip_skip == 2
    (_, said) = guessed(clip_skip=1, family="sdxl")
    assert said.startswith("clip skip 0 is assumed") and said.endswith("--clip-skip overrides it")
    assert taken(clip_skip=1, family="sdxl", program="mezzotint").cascade.stages[0].sampling.clip_skip == 1
    assert lost(clip_skip=2, family="flux") == ["clip skip 2"]
    assert lost(clip_skip=2, family=None) == ["clip skip 2"]


def test_a_second_pass_is_made_as_a1111_makes_it():
    known = {
        "hires_scale": 1.5,
        "hires_space": "latent",
        "hires_upscaler": "nearest",
        "hires_steps": 10,
        "strength": 0.4,
    }
    cascade = taken(**known).cascade
    assert cascade.transitions == (Transition(space="latent", scale=1.5, upscaler="nearest", strength=0.4),)
    assert [stage.sampling.steps for stage in cascade.stages] == [20, 25]  # of which 10 are run
    assert taken(hires_scale=2.0, hires_upscaler="4x-Sharp").cascade.transitions[0].upscaler == "4x-Sharp"
    assert guessed(hires_scale=2.0)[-1].startswith("a second pass (hires) is assumed, from hires upscale 2;")
    assert lost(hires_scale=2.0, hires_upscaler="R-ESRGAN") == ["hires upscaler R-ESRGAN"]
    assert lost(hires_scale=99.0, hires_upscaler="None", hires_steps=3) == [
        "hires 99.0",
        "hires upscaler None",
        "hires steps 3",
    ]
    assert lost(hires_upscaler="Latent") == ["hires upscaler Latent"]


def test_a_refiner_and_loras_are_found_by_name():
    found = {"refiner": "base", "refiner_at": 0.7, "prompt": "a barn <lora:style:0.5>"}
    loras = (LoraNamed(name="sub/style", weight=0.5), LoraNamed(name="gone", weight=2.0))
    request = taken(loras=loras, **found)
    assert (request.cascade.stages[0].until, request.cascade.stages[1].model) == (0.7, ModelRef(id="base"))
    assert (request.prompt, request.loras) == ("a barn", (LoraRef(path="/loras/Style.safetensors", weight=0.5),))
    assert lost(loras=loras, **found) == ["LoRA gone:2"]
    assert "Style.safetensors is assumed, from its name; --lora overrides it" in guessed(loras=loras)
    assert lost(refiner="other", refiner_at=0.7) == ["refiner other"]


def test_the_digest_of_a_model_is_said_not_to_be_compared():
    assert guessed(model_hash="abc") == ["base is assumed, from its name (abc is not compared); --model overrides it"]


def test_strength_and_mask_are_for_images_that_are_given():
    inpaint = Inpaint(feather=4, area="masked")
    assert lost(strength=0.3, inpaint=inpaint) == [
        "strength 0.3, as no init image is given",
        "the settings of its mask",
    ]
    assert taken(strength=0.3, has_init=True).strength == 0.3
    assert lost(strength=0.3, inpaint=inpaint, has_init=True, has_mask=True) == []
    assert lost(strength=3.0, has_init=True) == ["strength 3.0"]


def test_distilled_guidance_stands_beside_the_cfg_scale():
    sampling = taken(guidance_scale=1.0, distilled_guidance_scale=3.5).cascade.stages[0].sampling
    assert (sampling.guidance_scale, sampling.true_cfg_scale) == (3.5, 1.0)
    sampling = taken(guidance_scale=1.0).cascade.stages[0].sampling
    assert (sampling.guidance_scale, sampling.true_cfg_scale) == (None, 1.0)


def test_what_its_reader_did_not_use_is_told():
    assert lost(unused=("Eta 0.5", "ADetailer model face"), width=-5) == [
        "size -5x768",
        "Eta 0.5",
        "ADetailer model face",
    ]


@pytest.mark.parametrize("name", ["sdxl\\base", "sdxl/base", "//evil/share/base"])
def test_a_models_folders_are_not_followed(name):
    asked = []
    read(is_model=asked.append, model=name)
    assert asked == ["base"]


def test_an_image_that_says_nothing_is_refused():
    with pytest.raises(UsageError, match=r"a.png has no metadata about how it was made: its record is damaged"):
        read(prompt=None, seed=None, steps=None, other={"note": "its record is damaged"})


def test_an_image_without_a_prompt_is_told_from_one_that_says_nothing():
    with pytest.raises(UsageError, match=r"a.png, made by comfyui, has no prompt .*\(words from Load Text \(a.txt\)\)"):
        read(program="comfyui", prompt=None, other={"words from": "Load Text (a.txt)"})


@given(st.builds(ImageMetadata, request=st.none(), prompt=st.text()))
def test_any_foreign_metadata_gives_a_request_or_lines_that_are_plain(found):
    told = []
    request = request_from_metadata(found, "a.png", Installed()).take(told.append)
    assert request.prompt == found.prompt
    assert "\n" not in told[0]
    assert "\x1b" not in told[0]
