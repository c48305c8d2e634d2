"""Detail passes on the command line and in job files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.options import options_of, read_settings, to_arguments, to_settings
from mezzotint.protocol import GenerateRequest
from mezzotint.values.details import Detail, DetailRef, check_detail

VALUE = Detail()
WORDS = st.text(st.sampled_from("ab ,=(1.2):é"), max_size=9).map(lambda text: f"a{text}a")
DETAILS = st.builds(
    DetailRef,
    label=WORDS,
    model=st.none() | WORDS,
    prompt=st.none() | WORDS | st.just(""),
    strength=st.floats(0, 1),
    confidence=st.floats(0, 1),
    padding=st.integers(0, 1024),
)


@given(st.lists(DETAILS, max_size=2).map(tuple))
def test_requests_go_through_options_and_back(said):
    options = options_of(GenerateRequest(prompt="a house", details=said))
    assert options.detail == said
    assert read_settings({"detail": to_settings(options).get("detail", [])}, AssertionError).detail == said
    words = [word.removeprefix("--detail=") for word in to_arguments(options) if word != "--detail"]
    assert [VALUE.parse(word) for word in words] == list(said)


def test_tables_and_words():
    assert VALUE.read({"label": "face", "strength": 0.3}) == VALUE.read("face, strength=0.3")
    assert VALUE.parse("cat,prompt=a cat, asleep,padding=0") == DetailRef(
        label="cat", prompt="a cat, asleep", padding=0
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "no label is given"),
        ("face,size=3", "'size' is not a key"),
        ("face,strength=2", "strength="),
        ("face,padding=0.5", "padding="),
        ("face,model=", "expected a name or a file"),
        (7, "not text or a table"),
        ({"prompt": "x"}, "no label is given"),
    ],
)
def test_what_cannot_be_is_refused(said, reason):
    with pytest.raises(ValueError, match=reason):
        VALUE.read(said)


def test_values_from_elsewhere_are_checked():
    check_detail(DetailRef(label="face"))
    with pytest.raises(ValueError, match="confidence="):
        check_detail(DetailRef(label="face", confidence=float("nan")))
