"""Rows of a job: where words come from, and what a table says beside them."""

import pytest

from mezzotint.batch.job.job import Prompts
from mezzotint.batch.tasks.prompts import Row, drawn_text, filled, rows_of, texts_of
from mezzotint.batch.tasks.skipped import Skipped
from mezzotint.batch.tasks.wildcards import Wildcards

NONE = Wildcards(None)


@pytest.fixture
def rows(tmp_path):
    def made(**said):
        return list(rows_of(Prompts(**said), tmp_path))

    return made


def test_list_file_and_table_one_after_the_other(rows, tmp_path):
    (tmp_path / "p.txt").write_bytes(b"# none\n\n  b  \r\n\xff\n" + b"x" * 70_000 + b"\nc")
    (tmp_path / "t.csv").write_text("prompt,seed,size\nd,4,64x64\n,,\ne,x,\n")
    found = rows(list=("a",), file="p.txt", table="t.csv")
    assert [(row.number, row.text) for row in found if isinstance(row, Row)] == [(1, "a"), (2, "b"), (5, "c"), (6, "d")]
    assert found[5].settings == {"seed": 4, "size": (64, 64)}
    assert [one.input for one in found if isinstance(one, Skipped)] == [
        "p.txt, line 4",
        "p.txt, line 5",
        "t.csv, line 4",
    ]
    assert "seed" in found[-1].reason


def test_a_job_without_words_has_one_row_without_any(rows):
    (row,) = rows()
    assert row.text is None
    assert texts_of(row, Prompts(), NONE) == ("",)


def test_columns_fill_the_template_and_stay_plain_text(rows, tmp_path):
    (tmp_path / "t.csv").write_text('thing,where\n"{a|b} __x__",sea\n')
    prompts = Prompts(table="t.csv", template="{a|the} {thing} by {a|{where}}, {n}{thing}".replace("{n}", ""))
    (row,) = rows_of(prompts, tmp_path)
    assert texts_of(row, prompts, NONE) == tuple(
        f"{first} {{a|b}} __x__ by {last}, {{a|b}} __x__" for first in ("a", "the") for last in ("a", "sea")
    )


def test_a_template_that_names_no_column_is_told(rows, tmp_path):
    (tmp_path / "t.csv").write_text("thing\nhouse\n")
    found, told = rows(table="t.csv", template="a {think}")
    assert told.reason == "columns that nothing uses: thing"
    assert "'think'" in found.reason
    assert "thing" in found.reason


def test_one_of_the_choices_is_drawn_for_each_image(tmp_path):
    (tmp_path / "t.csv").write_text("thing\nhouse\n")
    prompts = Prompts(table="t.csv", template="{red|blue|green|white} {thing}", choices="one")
    (row,) = rows_of(prompts, tmp_path)
    (text,) = texts_of(row, prompts, NONE)
    drawn = {drawn_text(text, seed, row, prompts, NONE) for seed in range(40)}
    assert drawn == {"red house", "blue house", "green house", "white house"}


def test_braces_that_name_no_column_stay():
    assert filled("{a} {b} {c d}", {"a": "{b}", "c d": "1"}) == "{b} {b} 1"


def test_rows_are_the_same_wherever_they_stand(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "u.csv").write_text("b,a\n\n2,1\n")
    first, second = (next(rows_of(Prompts(table=name, template="{a}"), tmp_path)) for name in ("t.csv", "u.csv"))
    assert first.identity() == second.identity()
