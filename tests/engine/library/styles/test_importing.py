"""Styles of other programs: everything in a file, or a line number and nothing."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.library.styles.importing import _of_csv, import_styles
from mezzotint.library.styles.store import list_styles, save_style
from mezzotint.library_protocol import Style


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_CONFIG", str(tmp_path))
    return tmp_path


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def own():
    return {one.name: (one.prompt, one.negative) for one in list_styles().styles if one.own}


A1111 = '\ufeffname,prompt,negative_prompt\r\nInk,"ink, {prompt}","colour\r\nphoto"\r\n\r\n----,,\r\nFog,in fog,\r\n'


def test_a1111s_csv_is_read_with_its_headings_and_line_breaks(folder):
    found = import_styles(written(folder, "styles.csv", A1111))
    assert (found.added, found.empty) == (("Ink", "Fog"), 1)
    assert own() == {"Fog": ("in fog", ""), "Ink": ("ink, {prompt}", "colour\nphoto")}


def test_fooocus_json_is_read(folder):
    data = [{"name": "sai-anime", "prompt": "anime {prompt}", "negative_prompt": "photo"}, {"name": "x", "prompt": "y"}]
    assert import_styles(written(folder, "sai.json", json.dumps(data))).added == ("sai-anime", "x")
    assert own()["sai-anime"] == ("anime {prompt}", "photo")


def test_sd_nexts_json_is_read_and_what_a_style_has_no_place_for_is_named(folder):
    data = [
        {"name": "Haze", "prompt": "haze, {prompt}", "negative": "sharp", "extra": "steps: 5", "preview": ""},
        {"name": "Oil", "prompt": "oil", "Negative prompt": "photo", "extra": "cfg: 3", "wildcards": ["a"]},
    ]
    found = import_styles(written(folder, "next.json", json.dumps(data)))
    assert own() == {"Haze": ("haze, {prompt}", "sharp"), "Oil": ("oil", "photo")}
    assert found.notices == ("next.json: not used: extra (of 2 styles), wildcards (of 1 style)",)


def test_columns_that_are_not_known_are_named_if_anything_is_in_them(folder):
    text = "Name,Text,negative,category,notes,\nInk,ink,colour,drawing,,\nFog,fog,,,,x\n"
    found = import_styles(written(folder, "table.csv", text))
    assert own() == {"Fog": ("fog", ""), "Ink": ("ink", "colour")}
    assert found.notices == ("table.csv: not used: category (of 1 style), a column without a name (of 1 style)",)


def test_a_file_of_which_everything_is_used_needs_no_words(folder):
    assert import_styles(written(folder, "styles.csv", A1111)).notices == ()


def test_the_same_file_again_changes_nothing_and_other_texts_get_another_name(folder):
    save_style(Style(name="Fog", prompt="mine"))
    found = import_styles(written(folder, "styles.csv", A1111))
    assert found.renamed == {"Fog": "Fog (2)"}
    again = import_styles(folder / "styles.csv")
    assert (again.added, again.unchanged) == ((), 2)
    assert own()["Fog"] == ("mine", "")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", 'name,prompt,negative_prompt\nok,"y",\nbad,"open\nto the end', "a.csv, line 3: .*quote"),
        ("a.csv", "name,prompt,negative_prompt\nok,y,\nbad,one, two, three\n", "line 3: 4 cells instead of 3"),
        ("a.csv", "title,text\nok,y\n", "line 1: expected the columns"),
        ("a.csv", "name,prompt,text\nok,y,z\n", "line 1: the prompt is given 2 times"),
        (
            "a.json",
            '[{"name": "a", "negative": "b",\n"negative_prompt": "c"}]',
            "line 1: the negative is given 2 times",
        ),
        ("a.csv", "name,prompt\nok,y\n,z\n", "line 3: '' is not a name"),
        ("a.csv", b"name,prompt\nok,y\nbad,\xff\n", "line 3: not valid UTF-8"),
        ("a.csv", "", "no styles"),
        ("a.json", '[\n{"name": "ok", "prompt": "y"},\n{"name": "bad", "prompt": 3}]', "line 3: .*must be texts"),
        ("a.json", '[\n{"name": "ok", "prompt": "y"},\n{"name": }]', "line 3: not proper JSON"),
        ("a.json", '[{"name": "ok", "prompt": "y"}\n{"name": "b"}]', "line 2: expected a comma"),
        ("a.json", '{"name": "ok"}', "line 1: expected a list"),
        ("a.json", '[{"name": "ok", "prompt": "y"},\n7]', "line 2: expected an object"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", '[{"name": "ok", "prompt": "' + "y" * 9000 + '"}]', "9000 characters"),
        ("a.txt", "x", "neither"),
    ],
)
def test_a_broken_file_names_its_line_and_adds_nothing(folder, name, text, words):
    with pytest.raises(UsageError, match=words):
        import_styles(written(folder, name, text))
    assert own() == {}


def test_a_file_that_is_too_large_is_not_read(folder):
    path = folder / "styles.csv"
    with path.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(UsageError, match="larger than"):
        import_styles(path)


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@settings(max_examples=40)
@given(st.lists(st.tuples(cell, cell, cell), max_size=5))
def test_whatever_csv_writes_is_read_back(rows):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("name", "prompt", "negative_prompt"), *rows])
    found = [(one.name, one.prompt, one.negative) for one in _of_csv(file.getvalue(), "styles.csv")]
    kept = [row for row in rows if any(one.strip() for one in row)]
    assert found == [tuple("\n".join(one.splitlines()) for one in row) for row in kept]
