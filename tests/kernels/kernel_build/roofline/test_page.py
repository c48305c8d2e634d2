"""The page of the documentation: its tables are those of their sources, and say what limits."""

from dataclasses import replace

import pytest

from kernel_build.errors import BuildError
from kernel_build.registers import read_table
from kernel_build.results import Row, read_rows
from kernel_build.roofline.bounds import bounds, expected
from kernel_build.roofline.cards import rates_of
from kernel_build.roofline.code import StepCode, read_code
from kernel_build.roofline.kernels import Work, every
from kernel_build.roofline.page import BEGIN, END, PAGE, tables, with_tables, write_page

CARD = rates_of("RTX 4090")
CODE = StepCode(all=100, hmma=8, imma=0, ex2=2, ldsm=2, ldgsts=0)
WORK = Work(name="some", shape="shape", label="label", step="a step", steps=1e6, bytes=1e6, f16=1e9, result="some row")


def test_the_page_is_up_to_date():
    """If not: python -m kernel_build roofline --page-only; without that option if kernels have changed."""
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page, tables(every(), read_code(), read_table(), read_rows()))


def test_each_resource_has_its_bound():
    found = bounds(WORK, CODE, CARD)
    assert found["products"] == 1e9 / CARD.f16 and found["memory"] == 1e6 / CARD.bandwidth
    assert found["exponentials"] == 64e6 / CARD.exponentials and found["instructions"] == 100e6 / CARD.instructions


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({"f16": 1e15}, "products"),
        ({"f16_sums": 1e15}, "products"),
        ({"int8": 1e15}, "products"),
        ({"bytes": 1e12}, "memory"),
        ({"steps": 1e9}, "instructions"),
    ],
)
def test_the_slowest_resource_limits(changes, limit):
    assert expected(replace(WORK, **changes), CODE, CARD)[1] == limit
    assert expected(replace(WORK, steps=1e9), replace(CODE, ex2=1000), CARD)[1] == "exponentials"


def test_what_a_card_has_shown_stands_beside_what_is_expected():
    works = every()
    shown = Row(what=works[0].result, figure="150 TFLOP/s", gpu="NVIDIA GeForce RTX 4090")
    text = tables(works, read_code(), read_table(), [shown, replace(shown, gpu="RTX 3090", figure="pending")])
    lines = [line for line in text.splitlines() if "150 TFLOP/s" in line]
    assert len(lines) == 1 and lines[0].startswith("| RTX 4090 |")


def test_a_kernel_that_was_not_counted():
    with pytest.raises(BuildError, match="label has not been counted"):
        tables([WORK], read_code(), read_table(), [])


def test_only_what_is_between_the_marks_changes(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_page("new", path)
    assert path.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    with pytest.raises(BuildError, match="lacks the marks"):
        with_tables("nothing", "new")
