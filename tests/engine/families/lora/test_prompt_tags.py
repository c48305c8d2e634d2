"""Tags of other programs in prompts."""

import pytest

from mezzotint.families.lora.prompt_tags import has_lora_tags, without_lora_tags


@pytest.mark.parametrize(
    ("prompt", "rest"),
    [
        ("a house <lora:ink:0.8>", "a house"),
        ("<lora:ink:0.8:0.5><lyco:fog:1>a house, <lora:x:-1> night", "a house,  night"),
        ("<lora:name with (brackets) and, commas:1>", ""),
    ],
)
def test_they_are_left_out(prompt, rest):
    assert has_lora_tags(prompt) and without_lora_tags(prompt) == rest


@pytest.mark.parametrize("prompt", ["", " a <b> c ", "a <lora", "<lora:x", "lora:x>", "<Lora:x:1>", "<lora:<3"])
def test_other_words_stay_as_they_are(prompt):
    assert not has_lora_tags(prompt) and without_lora_tags(prompt) == prompt


def test_a_hostile_prompt_takes_no_long_time():
    prompt = "<lora:" * 10_000 + " " * 5_000
    assert without_lora_tags(prompt) == prompt
