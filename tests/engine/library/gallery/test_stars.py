"""The journal of stars: the last line about an image counts, and broken lines cost only themselves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import StorageError
from mezzotint.library.gallery.stars import StarJournal

contents = st.sampled_from(["pixels:a", "pixels:b", "file:c", "file:ü\n"])


@given(st.lists(st.dictionaries(contents, st.integers(0, 5), max_size=3), max_size=12))
def test_the_last_counts(tmp_path_factory, added):
    journal = StarJournal(tmp_path_factory.mktemp("stars") / "state" / "stars.jsonl")
    assert journal.read() == {} and journal.size() == 0
    expected = {}
    for stars in added:
        journal.add(stars)
        expected |= stars
    assert journal.read() == expected


@given(st.binary(max_size=80), st.integers(0, 60))
def test_damage_costs_only_what_it_hits(tmp_path_factory, garbage, cut):
    path = tmp_path_factory.mktemp("stars") / "stars.jsonl"
    journal = StarJournal(path)
    journal.add({"a": 1, "b": 2})
    whole = path.read_bytes()
    path.write_bytes(whole[:cut] + garbage)
    journal.add({"c": 3})
    stars = journal.read()
    assert stars["c"] == 3
    assert all(type(rating) is int and 0 <= rating <= 5 for rating in stars.values())
    if cut >= len(whole):
        assert (stars["a"], stars["b"]) == (1, 2)


@pytest.mark.parametrize("line", ["[]", "[1, 2]", '["a", 6]', '["a", true]', '["a", 1.0]', '{"a": 1}', "[" * 9999])
def test_lines_of_another_shape_are_passed_over(tmp_path, line):
    (tmp_path / "stars").write_text(f'["b", 1]\n{line}\n')
    assert StarJournal(tmp_path / "stars").read() == {"b": 1}


def test_a_long_journal_is_written_anew(tmp_path):
    path = tmp_path / "stars"
    path.write_text("".join(f"{json.dumps([f'image {number % 3}', number % 6])}\n" for number in range(3000)))
    before = StarJournal(path).read()
    assert path.stat().st_size < 200 and StarJournal(path).read() == before


def test_what_the_disk_says(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot read"):
        StarJournal(tmp_path / "folder").read()
    with pytest.raises(StorageError, match="cannot write"):
        StarJournal(tmp_path / "file" / "stars").add({"a": 1})
