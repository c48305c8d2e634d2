"""An option as it is declared: its names, its default, and what a request may hold."""

import pytest

from mezzotint.errors import UsageError
from mezzotint.option import Option
from mezzotint.values.basic import Integer, Listed, Number, Path, YesNo

STEPS = Option(name="guidance-steps", takes=Integer(1, 9, 5), group="image", help="how many")


def test_its_names_in_python_and_on_the_command_line():
    assert (STEPS.field, STEPS.flag) == ("guidance_steps", "--guidance-steps")


@pytest.mark.parametrize(
    ("takes", "unset_value"),
    [(Listed(Path()), ()), (YesNo(switch=True), False), (YesNo(), None), (Number(0, 1, 0.5), None)],
)
def test_what_stands_for_nothing_said(takes, unset_value):
    assert Option(name="x", takes=takes, group="image", help="").unset_value == unset_value


def test_a_value_out_of_bounds_is_refused_by_the_options_name():
    STEPS.check(9)
    assert STEPS.fits(9) and not STEPS.fits(10) and not STEPS.fits("9")
    with pytest.raises(UsageError, match="guidance steps: '10' is invalid; expected a whole number from 1 to 9"):
        STEPS.check(10)


@pytest.mark.parametrize("cell", [" 7 ", 7])
def test_cells_of_tables_are_text_or_numbers(cell):
    assert STEPS.read_cell(cell) == 7
