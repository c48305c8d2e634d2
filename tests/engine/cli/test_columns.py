"""Tables in plain text."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.cli.columns import columns, facts, number_cell


def test_columns_are_aligned():
    assert (
        columns([("ID", "SIZE"), ("a-long-one", "1"), ("b", "22")]) == "ID          SIZE\na-long-one  1\nb           22"
    )


def test_a_missing_number_is_an_empty_cell():
    assert (number_cell(1.234, "{:.2f} s"), number_cell(None, "{:.2f} s")) == ("1.23 s", "")


def test_facts_are_aligned():
    assert facts({"seed": "7", "prompt": "a barn"}) == "seed    7\nprompt  a barn"


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
def test_foreign_text_stays_on_its_line(values):
    lines = facts(values).split("\n")
    assert len(lines) == len(values)
    assert all(line.isprintable() for line in lines)
