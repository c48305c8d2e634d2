"""Tables from anywhere: a bad row is told, and the next one is read."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.tasks.tables import BadRow, TableRow, lines_of, read_table
from mezzotint.errors import StorageError, UsageError


def table(tmp_path, data, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(read_table(path))


def test_csv_as_programs_write_it(tmp_path):
    text = '\ufeffprompt, seed\r\n"a ""red""\nhouse, here",7\r\n\r\nb,\r\nc'
    rows = table(tmp_path, text)
    assert [dict(row.cells) for row in rows] == [
        {"prompt": 'a "red"\nhouse, here', "seed": "7"},
        {"prompt": "b", "seed": ""},
        {"prompt": "c", "seed": ""},
    ]


@pytest.mark.parametrize(("name", "text"), [("t.csv", "a;b\n1;2,5"), ("t.tsv", "a\tb\n1\t2,5")])
def test_other_separators(tmp_path, name, text):
    assert dict(table(tmp_path, text, name)[0].cells) == {"a": "1", "b": "2,5"}


def test_json_lines(tmp_path):
    lines = ['{"prompt": "a", "steps": 3, "strict": true, "none": null}', "", "[1]", "{", '{"a": {}}', '{"a": NaN}']
    lines += ["[" * 5000, '{"prompt": "z", "a": "\\ud800"}', '{"prompt": "end"}']
    rows = table(tmp_path, "\n".join(lines), "t.jsonl")
    assert dict(rows[0].cells) == {"prompt": "a", "steps": 3, "strict": True}
    assert [row.number for row in rows if isinstance(row, BadRow)] == [3, 4, 5, 6, 7, 8]
    assert dict(rows[-1].cells) == {"prompt": "end"}


def test_bad_rows_are_told_and_passed_over(tmp_path):
    rows = table(tmp_path, b"a,b\n1,2,3\n\xff,1\n" + b'"' + b"x" * 200_000 + b'",1\n4,5\n')
    assert [type(row) for row in rows] == [BadRow, BadRow, BadRow, TableRow]
    assert [row.number for row in rows[:2]] == [2, 3]


@pytest.mark.parametrize("text", ["", "\n\n", "a,a\n", "a,,b\n", ",".join(map(str, range(300))), b"\xff,b\n"])
def test_tables_without_a_proper_head(tmp_path, text):
    with pytest.raises(UsageError):
        table(tmp_path, text)


def test_tables_that_are_none(tmp_path):
    with pytest.raises(UsageError, match="its name must end"):
        table(tmp_path, "a", "t.xlsx")
    with pytest.raises(StorageError, match="does not exist"):
        list(read_table(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(StorageError, match="folder"):
        list(read_table(tmp_path / "folder.csv"))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no devices")
def test_devices_are_not_read(tmp_path):
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with pytest.raises(StorageError, match="device"):
        list(read_table(tmp_path / "zero.csv"))


def test_a_line_without_end_is_cut_and_the_next_is_read(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * (3 << 20) + b"\nnext\n")
    lines = list(lines_of(path))
    assert len(lines) == 2
    assert len(lines[0]) == 1 << 20
    assert lines[1] == "next\n"


def test_rows_come_before_the_file_is_read_to_its_end(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"prompt": str(n)}) + "\n" for n in range(50_000)))
    rows = read_table(path)
    assert [row.cells["prompt"] for row in itertools.islice(rows, 3)] == ["0", "1", "2"]
    path.write_text("")  # what was not read is gone
    assert sum(1 for _ in rows) < 25_000


@given(st.binary(max_size=200), st.sampled_from(["t.csv", "t.tsv", "t.jsonl"]))
def test_any_bytes_give_rows_or_one_error(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("t") / name
    path.write_bytes(data)
    try:
        for row in read_table(path):
            assert isinstance(row, BadRow) or all(isinstance(column, str) for column in row.cells)
    except UsageError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_unicode_text_of_spreadsheets(tmp_path, order):
    data = ("\ufeff" + "prompt\tSeed\r\nein Haus, grün\t7\r\n").encode(order)
    (row,) = table(tmp_path, data)
    assert row.cells == {"prompt": "ein Haus, grün", "Seed": "7"}
    assert list(lines_of(tmp_path / "t.csv"))[1] == "ein Haus, grün\t7\n"
    with pytest.raises(UsageError, match="begins like UTF-16 and is not"):
        table(tmp_path, data[:-1])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sep=;\r\na;b\r\n1;2,5\r\n", "t.csv"),
        ('"sep=\t"\na\tb\n1\t2,5\n', "t.csv"),
        ("a\tb\n1\t2,5\n", "t.csv"),
        ("a;b\n1;2,5\n", "t.tsv"),
        ("a;b;;\n1;2,5;;\n", "t.csv"),
    ],
)
def test_separators_and_empty_columns_of_spreadsheets(tmp_path, text, name):
    (row,) = table(tmp_path, text, name)
    assert row.cells == {"a": "1", "b": "2,5"} and row.number == text.count("\n")


def test_cells_behind_the_last_column_are_told(tmp_path):
    rows = table(tmp_path, "a,b,\n1,2,3\n1,2,\n")
    assert [type(row) for row in rows] == [BadRow, TableRow]
