"""Several requests out of one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.jobs.matrix import alternatives, expand
from mezzotint.protocol import GenerateRequest

PLAIN = st.text(st.characters(exclude_characters="{|}\\"), max_size=8)


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("a house", ["a house"]),
        ("a {red|blue} house", ["a red house", "a blue house"]),
        ("{a|b} {1|2}", ["a 1", "a 2", "b 1", "b 2"]),
        ("{a|{b|c}x}", ["a", "bx", "cx"]),
        ("{|very }old", ["old", "very old"]),
        ("{a|a}", ["a", "a"]),
        ("{word}", ["{word}"]),
        ("{{a|b}}", ["{a}", "{b}"]),
        ("a | b", ["a | b"]),
        ("open { a|b", ["open { a|b"]),
        ("open { {a|b}", ["open { a", "open { b"]),
        ("} closed {a|b}", ["} closed a", "} closed b"]),
        (r"\{a|b\} \| {c\|d|e\}}", ["{a|b} | c|d", "{a|b} | e}"]),
        (r"C:\path (word:1.2) \(x\)", [r"C:\path (word:1.2) \(x\)"]),
        ("", [""]),
    ],
)
def test_alternatives(prompt, wanted):
    assert list(alternatives(prompt)) == wanted


@given(st.lists(st.one_of(PLAIN, st.lists(PLAIN, min_size=2, max_size=4)), max_size=5))
def test_all_combinations_in_order(parts):
    prompt = "".join(part if isinstance(part, str) else f"{{{'|'.join(part)}}}" for part in parts)
    wanted = itertools.product(*([part] if isinstance(part, str) else part for part in parts))
    assert list(alternatives(prompt)) == ["".join(one) for one in wanted]


@given(st.text())
def test_what_is_escaped_is_itself(text):
    escaped = "".join(f"\\{one}" if one in "{|}\\" else one for one in text)
    assert alternatives(escaped) == (text,)


@given(st.text("ab{|}\\", max_size=40))
def test_any_text_has_a_meaning(text):
    try:
        found = alternatives(text, limit=500)
    except UsageError as error:
        assert "prompts: at most 500" in str(error)
        return
    assert 1 <= len(found) <= 500
    if not {"{", "}", "\\"} & set(text):
        assert found == (text,)


@pytest.mark.parametrize(
    "text", ["{" * 100_000, "{" * 50_000 + "}" * 50_000, "{a|" * 20_000, "\\" * 100_001, "|" * 100_000]
)
def test_endless_marks(text):
    assert len(alternatives(text)) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{a|b}" * 14, "16384 prompts"),
        ("{a|b}" * 3000, "more than a billion"),
        ("{a|" * 50_000 + "}" * 50_000, "more than 16 deep"),
        ("x" * 1_000_000 + "{a|b}" * 8, "too long for one entry"),
    ],
)
def test_too_much_is_refused_before_it_is_made(text, told):
    with pytest.raises(UsageError, match=told):
        alternatives(text)


@given(st.lists(st.integers(0, 2**63 - 1), max_size=5))
def test_every_prompt_with_every_seed(seeds):
    found = expand(GenerateRequest(prompt="{a|b} house", count=2, seed=9), seeds=seeds)
    wanted = [(prompt, seed) for prompt in ("a house", "b house") for seed in seeds or [9]]
    assert [(one.prompt, one.seed) for one in found] == wanted
    assert {one.count for one in found} == {2}


def test_without_seeds_only_the_words_differ():
    first, second = expand(GenerateRequest(prompt="{a|b}"))
    assert first.seed == second.seed is not None
    assert expand(GenerateRequest(prompt="a"))[0].seed is None  # drawn when it is added


def test_a_prompt_may_be_taken_as_it_is():
    assert [one.prompt for one in expand(GenerateRequest(prompt="{a|b}"), seeds=[1, 2], is_matrix=False)] == [
        "{a|b}"
    ] * 2


def test_prompts_times_seeds_have_a_limit():
    with pytest.raises(UsageError, match="3 prompts with 4 seeds are 12 requests: at most 11"):
        expand(GenerateRequest(prompt="{a|b|c}"), seeds=range(4), limit=11)
