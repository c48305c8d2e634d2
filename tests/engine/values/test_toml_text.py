"""Reading TOML with bounded names."""

import tomllib

import pytest

from mezzotint.values.toml_text import MOST_PARTS, parse_toml


@pytest.mark.parametrize(
    "text",
    [
        "a." * 40_000 + "b = 1",
        "[" + "a." * 40_000 + "b]",
        "x = {" + '"a" . ' * 40_000 + "b = 1}",
        "'a'." * 40_000 + "b = 1",
    ],
)
def test_endless_names_are_refused_at_once(text):
    """At the square of their length they would take a minute."""
    with pytest.raises(ValueError, match=f"more than {MOST_PARTS} parts"):
        parse_toml(text)


def test_dots_in_values_and_comments_are_no_names():
    text = f"""# {"." * 100}
a.b.c = "{"." * 100}"
d = [{", ".join(["1.5"] * 100)}]
e = '''
{"x." * 100}
'''
[{".".join("p" * MOST_PARTS)}]
q = 1979-05-27T07:32:00.5Z
"""
    assert parse_toml(text) == tomllib.loads(text)
