import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.programs.early_invokeai import metadata_of_dream, metadata_of_sd_metadata


def test_a_dream_command() -> None:
    found = metadata_of_dream(
        '"a "red" house -s 3 [fog, rain] by the sea [snow]" x -s 30 -S 42 -W 512 -H 768 -C 7.5 '
        "-A k_euler_a -f 0.6 -G 0.9 -U 4 0.95"
    )
    assert found is not None
    assert (found.program, found.prompt, found.negative_prompt) == (
        "invokeai",
        'a "red" house -s 3   by the sea',
        "fog, rain, snow",
    )
    assert (found.steps, found.seed, found.width, found.height) == (30, 42, 512, 768)
    assert (found.guidance_scale, found.sampler, found.strength) == (7.5, "euler_a", 0.6)
    assert found.other == {"further": "x", "gfpgan": "0.9", "upscale": "4 0.95"}


@pytest.mark.parametrize("text", ["", "a house", '"a house', 'a house"', '"' * 3 + "x"])
def test_another_text_is_no_command(text: str) -> None:
    assert metadata_of_dream(text) is None


@pytest.mark.parametrize(
    "text", ['"' * 250_000, '"a" ' + "-s " * 80_000, '"a" ' + " " * 250_000 + "x", '"' + "[" * 250_000 + '"']
)
def test_hostile_commands_end_at_once(text: str) -> None:
    found = metadata_of_dream(text)
    assert found is None or found.request is None


def test_sd_metadata() -> None:
    image = {
        "prompt": [{"prompt": "a house [fog]", "weight": 1.0}, {"prompt": "dusk", "weight": 0.5}],
        "steps": 50,
        "cfg_scale": 5,
        "seed": 9,
        "width": 512,
        "height": 640,
        "sampler": "ddim",
        "seamless": False,
        "hires_fix": True,
    }
    found = metadata_of_sd_metadata(
        {
            "model": "stable diffusion",
            "model_weights": "deliberate",
            "model_hash": "abc",
            "app_version": "2.3.0",
            "image": image,
        }
    )
    assert (found.prompt, found.negative_prompt) == ("a house  , (dusk:0.5)", "fog")
    assert (found.seed, found.steps, found.width, found.height, found.sampler) == (9, 50, 512, 640, "ddim")
    assert (found.model, found.model_hash, found.guidance_scale) == ("deliberate", "abc", 5.0)
    assert found.other == {"model_hash": "abc", "app_version": "2.3.0", "seamless": "false", "hires_fix": "true"}
    plain = metadata_of_sd_metadata({"model": "sd", "image": {"prompt": "words", "strength": 0.5}})
    assert (plain.prompt, plain.negative_prompt, plain.model, plain.strength) == ("words", None, "sd", 0.5)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
junk = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["prompt", "weight", "steps", "seed"]), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["image", "model", "model_hash"]), junk))
def test_any_values_are_survived(data: dict[str, object]) -> None:
    assert metadata_of_sd_metadata(data).request is None
