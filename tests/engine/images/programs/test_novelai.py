import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.programs.novelai import metadata_of_novelai
from mezzotint.images.untrusted import UnreadableError

EARLY = {"steps": 50, "sampler": "k_euler_ancestral", "seed": 7, "strength": 0.4, "scale": 10.0, "uc": "lowres"}
LATER = {
    "prompt": "a {cat}",
    "uc": "blurry",
    "steps": 28,
    "width": 832,
    "height": 1216,
    "scale": 5.0,
    "seed": 77,
    "sampler": "k_dpmpp_2m",
    "noise_schedule": "karras",
    "cfg_rescale": 0.2,
    "sm": False,
    "v4_prompt": {"caption": {"base_caption": "a {cat}", "char_captions": [{"char_caption": "girl"}, 3]}},
    "v4_negative_prompt": {"caption": {"base_caption": "blurry", "char_captions": []}},
}


def test_early_images_have_their_prompt_beside_the_comment() -> None:
    chunks = {"Description": "a castle", "Source": "Stable Diffusion 1D44365E", "Comment": json.dumps(EARLY)}
    found = metadata_of_novelai(chunks)
    assert (found.program, found.prompt, found.negative_prompt) == ("novelai", "a castle", "lowres")
    assert (found.seed, found.steps, found.sampler, found.schedule) == (7, 50, "euler_a", None)
    assert (found.guidance_scale, found.strength, found.model) == (10.0, 0.4, "Stable Diffusion 1D44365E")
    assert found.other == {}


def test_later_images_say_all_in_the_comment_and_have_prompts_of_characters() -> None:
    found = metadata_of_novelai({"Description": "cut", "Comment": json.dumps(LATER)})
    assert (found.prompt, found.negative_prompt) == ("a {cat}", "blurry")
    assert (found.width, found.height, found.sampler, found.schedule) == (832, 1216, "dpmpp_2m", "karras")
    assert found.other == {"prompts of characters": "girl", "cfg_rescale": "0.2", "sm": "false"}


def test_a_prompt_may_stand_in_the_captions_alone() -> None:
    data = {name: value for name, value in LATER.items() if name not in ("prompt", "uc")}
    found = metadata_of_novelai({"Comment": json.dumps(data | {"noise_schedule": "native"})})
    assert (found.prompt, found.negative_prompt, found.schedule) == ("a {cat}", "blurry", None)


def test_a_broken_comment_is_told_and_a_missing_one_leaves_the_description() -> None:
    assert metadata_of_novelai({"Description": "a castle"}).prompt == "a castle"
    with pytest.raises(UnreadableError):
        metadata_of_novelai({"Comment": "{"})


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
junk = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=6)


@given(st.dictionaries(st.sampled_from(sorted({*EARLY, *LATER})), junk))
def test_any_values_are_survived(data: dict[str, object]) -> None:
    assert metadata_of_novelai({"Comment": json.dumps(data)}).request is None
