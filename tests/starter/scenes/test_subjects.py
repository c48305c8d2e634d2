import pytest

from mezzotint.errors import StorageError
from mezzotint_starter.scenes import table
from mezzotint_starter.scenes.subjects import STANCES, entries, subjects_of

LABELS = [label for text in STANCES.values() for label, _ in entries(text)]
LABELLED = [{"label": label, "hexcode": f"{number:X}"} for number, label in enumerate(LABELS)]


@pytest.fixture(scope="module")
def subjects():
    dog, cow = (f"{LABELS.index(name):X}" for name in ("dog", "cow"))
    return {each.name: each for each in subjects_of(LABELLED, [{dog: ["puppy", "pet_animal"], cow: "pet_animal"}])}


def test_the_table_has_hundreds_of_things_with_a_name_each(subjects):
    assert 250 <= len(subjects) == len(LABELS) <= 400
    assert {name for _, name in entries(table.COLOURED)} == {each.name for each in subjects.values() if each.coloured}


def test_a_common_name_stands_for_the_label(subjects):
    assert subjects["car"].code == f"{LABELS.index('automobile'):X}"
    assert subjects["car"].synonyms == ("automobile",)
    assert {subjects[name].stance for name in ("dog", "kite", "ship")} == {"standing", "flying", "floating"}


def test_names_of_two_things_are_no_synonyms(subjects):
    assert subjects["dog"].synonyms == ("puppy",)
    assert subjects["cow"].synonyms == ()


def test_a_label_that_is_gone_is_named():
    with pytest.raises(StorageError, match="has no 'zebra'"):
        subjects_of([entry for entry in LABELLED if entry["label"] != "zebra"], [])
