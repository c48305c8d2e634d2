import json
import re
from string import ascii_letters

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.images.infotext import MAX_CHARACTERS, MAX_SETTINGS, Infotext, parse_infotext, storable, write_infotext

SETTINGS = {"Steps": "20", "Sampler": "Euler a", "CFG scale": "7", "Seed": "1", "Size": "512x512"}
# The grammar that A1111 documents for its last line; the reader that everyone else's programs use.
A1111_SETTING = re.compile(r'\s*(\w[\w \-/]+):\s*("(?:\\.|[^\\"])+"|[^,]*)(?:,|$)')

prompts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80) | st.lists(
    st.sampled_from(
        ["a, (b:1.2)", 'say "hi"', "Steps: 3", "x: 1, y: 2, z: 3", "🏠 海", "\\", "", " ", "neg", "BREAK", "\r"]
    )
).map("\n".join)
keys = st.text(ascii_letters, min_size=2, max_size=12)
values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


def is_unmistakable(prompt: str) -> bool:
    """The format has no escape for a line of the prompt that looks like the negative prompt's start."""
    return not any(line.lstrip().startswith("Negative prompt:") for line in prompt.split("\n"))


@given(prompts.filter(is_unmistakable), prompts, st.dictionaries(keys, values, min_size=3, max_size=8))
@example("", "", SETTINGS)
@example("\n", "\n", SETTINGS)
@example("Steps: 1, Sampler: Euler, Seed: 2", "Negative prompt: twice", SETTINGS)
@example("a", "b", SETTINGS | {"Lora hashes": '"name: abcd"', "Note": "", "Other": " spaced ", "Path": "C:\\a\nb"})
def test_what_is_written_is_read(prompt: str, negative: str, settings: dict[str, str]) -> None:
    info = Infotext(prompt=prompt, negative_prompt=negative, settings=settings)
    assert parse_infotext(write_infotext(info)) == info


@given(prompts.filter(is_unmistakable), prompts, st.dictionaries(keys, values.filter(bool), min_size=3, max_size=8))
def test_others_read_the_same_settings(prompt: str, negative: str, settings: dict[str, str]) -> None:
    last = write_infotext(Infotext(prompt=prompt, negative_prompt=negative, settings=settings)).split("\n")[-1]
    seen = {key: json.loads(value) if value.startswith('"') else value for key, value in A1111_SETTING.findall(last)}
    assert seen == settings


def test_the_text_is_laid_out_as_everyone_expects() -> None:
    info = Infotext(prompt="a house,\nred", negative_prompt="blurry", settings=SETTINGS | {"Hashes": "a: 1, b: 2"})
    assert write_infotext(info) == (
        "a house,\nred\nNegative prompt: blurry\n"
        'Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 512x512, Hashes: "a: 1, b: 2"'
    )


def test_an_empty_negative_prompt_has_no_line() -> None:
    assert "Negative" not in write_infotext(Infotext(prompt="a", negative_prompt="", settings=SETTINGS))


def test_what_no_chunk_can_hold_is_left_out() -> None:
    assert storable("a\0b\udce9") == "ab?"


def test_a_real_text_is_read() -> None:
    info = parse_infotext(
        "masterpiece, <lora:thing:0.8>, a castle\nat night\nNegative prompt: lowres,\nbad hands\n"
        "Steps: 28, Sampler: DPM++ 2M Karras, CFG scale: 6.5, Seed: 965400086, Size: 832x1216, "
        "Model hash: 31e35c80fc, Model: sd_xl_base_1.0, Denoising strength: 0.4, Clip skip: 2, "
        'Hires upscale: 2, Lora hashes: "thing: 90f7d3a1bc2d, other: 1", Version: v1.10.1\n'
    )
    assert info is not None
    assert info.prompt == "masterpiece, <lora:thing:0.8>, a castle\nat night"
    assert info.negative_prompt == "lowres,\nbad hands"
    assert info.settings["Lora hashes"] == "thing: 90f7d3a1bc2d, other: 1"
    assert info.settings["Version"] == "v1.10.1" and info.settings["Hires upscale"] == "2"


@pytest.mark.parametrize(
    ("after", "settings", "unread"),
    [
        (
            "\nTemplate: a {red|blue}, wide house\nNegative Template: rain, __weather__",
            {"Template": "a {red|blue}, wide house", "Negative Template": "rain, __weather__"},
            (),
        ),
        ("\nTemplate: one,\ntwo\nSeed: 9", {"Template": "one,\ntwo", "Seed": "5"}, ("Seed: 9",)),
        (', Note: "one,\nSteps: two, x", Version: v1', {"Note": "one,\nSteps: two, x", "Version": "v1"}, ()),
        (", Note: one\ntwo, Version: v1", {"Note": "one\ntwo", "Version": "v1"}, ()),
        (
            ', Resources: [{"name": "a, b: c"},\n[1, 2]], Extra: {}, Version: v1',
            {"Resources": '[{"name": "a, b: c"},\n[1, 2]]', "Extra": "{}", "Version": "v1"},
            (),
        ),
        (", Styles: ['one', 'two'], Version: v1", {"Styles": "['one', 'two']", "Version": "v1"}, ()),
        (
            ", Note: [one, Version: v1\nfree words, of somebody",
            {"Note": "[one", "Version": "v1"},
            ("free words, of somebody",),
        ),
        ("\nModel: foo, Version: v1, odd", {"Model": "foo", "Version": "v1"}, ("odd",)),
    ],
)
def test_values_of_several_lines_and_later_lines_are_kept(
    after: str, settings: dict[str, str], unread: tuple[str, ...]
) -> None:
    first = {"Steps": "20", "Sampler": "Euler a", "Seed": "5"}
    line = "Steps: 20, Sampler: Euler a, Seed: 5"
    expected = Infotext(prompt="a house", negative_prompt="rain", settings=first | settings, unread=unread)
    assert parse_infotext(f"a house\nNegative prompt: rain\n{line}{after}") == expected


@pytest.mark.parametrize(
    "text",
    [
        "a house Negative prompt: rain Steps: 20, Sampler: Euler a, Seed: 5",
        "a house\nSampler: Euler a, Steps: 20, Seed: 5\nTemplate: {a|b} house",
        "a house\nSteps: 20, Prompt note: x\ny, Sampler: Euler a, Seed: 5",
        "a house\r\nSteps: 20, Sampler: Euler a, Seed: 5\r\nTemplate: {a|b} house\r\n",
    ],
)
def test_settings_are_never_part_of_the_prompt(text: str) -> None:
    info = parse_infotext(text)
    assert info is not None
    assert (info.prompt.strip(), info.settings["Sampler"], info.settings["Seed"]) == ("a house", "Euler a", "5")


def test_the_settings_after_a_very_long_prompt_are_read() -> None:
    info = parse_infotext("x" * 3 * MAX_CHARACTERS + "\nSteps: 1, Seed: 2, Size: 1x1")
    assert info is not None
    assert info.settings == {"Steps": "1", "Seed": "2", "Size": "1x1"}


@pytest.mark.parametrize("text", ["", "a photo", "Steps: 20, Sampler: Euler", "Steps: 1, Seed: 2, x", "\n\n\n", "{}"])
def test_a_text_without_settings_is_none(text: str) -> None:
    assert parse_infotext(text) is None


@pytest.mark.parametrize(
    "line",
    [
        "a" * 250_000,
        " " * 250_000 + "a",
        "ab: " * 60_000,
        'ab:"' * 60_000,
        'ab:"\\' * 50_000,
        "ab:1," * 50_000,
        "," * 250_000,
        "a:" * 100_000 + '"',
        "ab " * 80_000 + ":",
        "Steps: [\n" * 30_000,
        'Steps: {"ab": [\n' * 20_000,
        "Steps: [1, " * 20_000,
    ],
)
def test_hostile_lines_end_at_once(line: str) -> None:
    """Each takes milliseconds; a pattern that goes back and tries again would take hours."""
    info = parse_infotext(f"prompt\n{line}\nSteps: 1, Seed: 2, Size: 1x1, {line}")
    assert info is None or len(info.settings) <= MAX_SETTINGS


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    info = parse_infotext(text)
    assert info is None or len(info.settings) >= 3


def test_a_quoted_value_that_is_no_json_stays_as_it_is() -> None:
    info = parse_infotext('a\nSteps: 1, Seed: 2, Model: "C:\\models\\x", Size: 1x1')
    assert info is not None
    assert info.settings["Model"] == '"C:\\models\\x"'
