from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.catalog.ids import with_ids
from mezzotint.catalog.place import Candidate

few = st.sampled_from(["a", "A", "b", "x/a", "a~2"])


def candidate(name, long_name, source="folder", number=0):
    return Candidate(path=Path(f"/{number}"), layout="file", source=source, name=name, long_name=long_name)


@given(st.lists(st.tuples(few, few, st.sampled_from(["bundled", "folder"]))))
def test_ids_are_unique_in_any_letters_and_nothing_is_lost(rows):
    candidates = [candidate(name, long, source, number) for number, (name, long, source) in enumerate(rows)]
    ids = with_ids(candidates)
    assert list(ids.values()) == candidates
    assert len({identity.casefold() for identity in ids}) == len(candidates)


def test_a_name_borne_once_is_the_id():
    assert list(with_ids([candidate("a", "x/a"), candidate("b", "x/b")])) == ["a", "b"]


def test_those_who_share_a_name_all_have_the_long_one():
    assert list(with_ids([candidate("a", "x/a"), candidate("A", "y/A")])) == ["x/a", "y/A"]


def test_those_who_share_both_are_numbered():
    assert list(with_ids([candidate("a", "x/a"), candidate("a", "x/a")])) == ["x/a", "x/a~2"]


def test_what_is_bundled_keeps_its_name():
    ids = with_ids([candidate("a", "x/a", "bundled"), candidate("a", "y/a")])
    assert list(ids) == ["a", "y/a"]
