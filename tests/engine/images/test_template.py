import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.images.template import (
    MAX_COMPONENT_BYTES,
    TOKENS,
    cut_bytes,
    render,
    safe_component,
    safe_value,
    slug,
    tokens_in,
)

NTFS_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in "123456789¹²³"), *(f"lpt{n}" for n in "123456789¹²³")}
hostile = st.text(max_size=400) | st.lists(
    st.sampled_from(
        ["..", "/", "\\", "CON", "com1", ".", " ", "\0", "C:", "\u202e", "é", "🏠" * 50, "a" * 300, "~", "-"]
    )
).map("".join)


def assert_safe_everywhere(name: str) -> None:
    assert name not in ("", ".", "..")
    assert not NTFS_UNSAFE.search(name)
    assert not name.endswith((".", " "))
    assert name.split(".")[0].strip().lower() not in RESERVED
    assert len(name.encode()) <= 255
    assert name.isprintable() or all(one.isprintable() or one.isspace() for one in name)


@given(hostile)
@example("../../x")
@example("CON")
@example("nul.txt")
@example("COM¹ .a")
@example("...")
def test_a_component_is_safe_on_every_disk(text: str) -> None:
    assert_safe_everywhere(safe_component(text))


@given(hostile, hostile)
def test_a_rendered_component_is_safe_on_every_disk(prompt: str, model: str) -> None:
    values = {"prompt": prompt, "model": model}
    for template in ("[prompt]", "[model][prompt]", "a[prompt].b", "[model].", " [prompt]"):
        name = render(template, values)
        assert_safe_everywhere(name)
        assert len(name.encode()) <= MAX_COMPONENT_BYTES + 1


@given(hostile)
def test_a_slug_is_short_and_plain(prompt: str) -> None:
    name = slug(prompt)
    assert 0 < len(name) <= 60
    assert_safe_everywhere(safe_value(name) or "_") if name.lower() not in RESERVED else None
    assert " " not in name and "." not in name


def test_slugs_keep_every_script() -> None:
    assert slug("A red house, by (the:1.2) sea!") == "A-red-house-by-the-1-2-sea"
    assert slug("夜の海") == "夜の海"
    assert slug("किताब घर") == "किताब-घर"
    assert slug("🏠") == "image"
    assert slug("e\u0301") == "é"
    assert slug("x" * 59 + " yy") == "x" * 59


def test_tokens_are_found_and_brackets_can_be_plain() -> None:
    assert tokens_in("[seed]-[[x]-[date]") == ("seed", "date")
    assert render("[[seed]", {}) == "[seed]"
    assert render("[[[seed]]", {"seed": "7"}) == "[7]"


def test_an_unknown_token_lists_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"unknown token \[sede\]") as refused:
        tokens_in("a-[sede].png")
    assert all(f"[{token}]" in str(refused.value) for token in TOKENS)


def test_literal_components_stay_as_typed() -> None:
    assert render("My Images ", {}) == "My Images "


@given(st.text(), st.integers(0, 50))
def test_cutting_never_halves_a_character(text: str, limit: int) -> None:
    cut = cut_bytes(text, limit)
    assert len(cut.encode()) <= limit
    assert text.encode("utf-8", "ignore").decode().startswith(cut)
