"""Variables in prompts."""

import pytest

from mezzotint.errors import UsageError
from mezzotint.jobs.choices.variables import settled
from mezzotint.jobs.matrix import alternatives


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("${who=a fox} ${who} and ${who}", ["a fox and a fox"]),
        ("${c={red|blue}}${c}-${c}", ["red-red", "red-blue", "blue-red", "blue-blue"]),
        ("${c=!{red|blue}}${c}-${c}", ["red-red", "blue-blue"]),
        ("${a=!{1|2}}${b=!${a}{x|y}}${b}${b}", ["1x1x", "1y1y", "2x2x", "2y2y"]),
        ("${c:green} ${c=red}${c:green}", ["green red"]),
        ("${a=x}${b=${a}${a}}${b} ${c:${a}}", ["xx x"]),
        ("costs ${price} $5", ["costs ${price} $5"]),
        (r"$\{a=b\} \${a=b}", ["${a=b} \\${a=b}"]),
        ("{2$${a|b}|c}", ["a, c", "b, c"]),
        ("${a=b", ["${a=b"]),
    ],
)
def test_what_stands_for_a_variable(prompt, wanted):
    assert list(alternatives(prompt)) == wanted


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("${a=" + "x" * 3000 + "}" + "${a}" * 30, "grows to"),
        ("".join(f"${{v{n}=${{v{n - 1}:xx}}${{v{n - 1}:xx}}}}" for n in range(40)), "grows to"),
        ("${a=b}" * 101, "more than 100 variables"),
        ("${a:" * 17 + "}" * 17, "nested more than 16 deep"),
    ],
)
def test_what_would_grow_is_refused(prompt, told):
    with pytest.raises(UsageError, match=told):
        list(settled(prompt, lambda text: [text]))
