"""Where a prompt goes in a style's text."""

import pytest

from mezzotint.values.style_text import with_styles


@pytest.mark.parametrize(
    ("prompt", "texts", "expected"),
    [
        ("a boat", (), "a boat"),
        ("a boat", ("ink of {prompt}!",), "ink of a boat!"),
        ("a boat ", (" in fog",), "a boat, in fog"),
        ("", ("fog",), "fog"),
        ("a {prompt}", ("x {prompt} y {prompt}", "z"), "x a {prompt} y a {prompt}, z"),
    ],
)
def test_placeholders_and_additions(prompt, texts, expected):
    assert with_styles(prompt, texts) == expected
