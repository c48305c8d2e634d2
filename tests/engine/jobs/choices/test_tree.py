"""Choices in a prompt as a tree."""

import pytest

from mezzotint.jobs.choices.tree import as_alternative, joined, parsed, weighted
from mezzotint.jobs.matrix import alternatives


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("{2$$a|b|c}", ["a, b", "a, c", "b, c"]),
        ("{1-2$$ and $$x|y} z", ["x z", "y z", "x and y z"]),
        ("{-1$$a|b}", ["", "a", "b"]),
        ("{2-$$+$$a|b|c}", ["a+b", "a+c", "b+c", "a+b+c"]),
        ("{5$$a|b}", ["a, b"]),
        ("{3-1$$-$$a|b}", ["a", "b", "a-b"]),
        ("{2::a|.5::b|c}", ["a", "b", "c"]),
        ("{2$$ $${x|y}|z}", ["x z", "y z"]),
        (r"\{2$$a|b\}", ["{2$$a|b}"]),
        ("{1$$one}", ["one"]),
        ("a 2::b $$ {c}", ["a 2::b $$ {c}"]),
    ],
)
def test_several_and_weighted_alternatives(prompt, wanted):
    assert list(alternatives(prompt)) == wanted


def test_too_many_sets_are_counted_and_not_made():
    from mezzotint.errors import UsageError

    for prompt, told in (
        ("{10$$" + "|".join("abcdefghijklmnopqrst") + "}", "184756 prompts"),
        ("{2$$" + "|" * 1000 + "}", "more than 500"),
        ("{40$$" + "x" * 199 + "$$" + "|".join(map(str, range(45))) + "}", "prompts: at most 10000"),
    ):
        with pytest.raises(UsageError, match=told):
            alternatives(prompt)


def test_weights_and_what_is_taken():
    tree, (outer, inner) = parsed("x {3::a|{b|c}|0.25::d}")
    assert outer.weights == [3.0, 1.0, 0.25] and (outer.height, inner.height) == (2, 1)
    taken = {id(outer): [outer.options[1]], id(inner): [inner.options[1]]}
    assert joined(tree, taken) == "x c"
    assert weighted("2.5::red") == ("red", 2.5) and weighted("12:30::x") == ("12:30::x", 1.0)


def test_a_line_as_an_alternative_keeps_its_meaning():
    for line in ("a|b {c|d}", "} e {", r"\| f"):
        assert alternatives(f"{{{as_alternative(line)}|z}}")[:-1] == alternatives(line)
