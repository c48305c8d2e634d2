"""Entries in words."""

from typing import get_args

import pytest

from mezzotint.jobs.store import EntryRow, TaskCounts, TaskState
from mezzotint_app.viewmodel.queue.texts import (
    COLOURS,
    ICONS,
    entries_count,
    entry_view,
    explained,
    images_count,
    model_name,
    spoken,
    state_word,
    what_to_do,
)

STATES = get_args(TaskState)


def row(**fields):
    values = {
        "id": 1,
        "title": "a hare",
        "kind": "generate",
        "model": "m",
        "state": "waiting",
        "counts": TaskCounts(waiting=1),
        "tasks": 1,
        "position": 1.0,
        "created": 0.0,
        "started": None,
        "finished": None,
        "error": None,
        "first_image": None,
        "images": 0,
        "images_asked": 4,
    }
    return EntryRow(**(values | fields))


def test_every_state_has_a_word_a_drawing_and_a_colour():
    from mezzotint_app import resources, theme

    assert len({state_word(state) for state in STATES}) == len(STATES)
    assert len({ICONS[state] for state in STATES}) == len(STATES)
    assert all(ICONS[state] in resources.names() for state in STATES)
    assert all(COLOURS[state] in theme.LIGHT for state in STATES)


def test_states_that_need_a_person_say_what_to_do():
    assert all(explained(state) for state in ("failed", "set_aside", "interrupted", "cancelled"))
    assert not explained("waiting")


@pytest.mark.parametrize(
    "kind", ["out_of_memory", "model_refused", "unknown_model", "device_lost", "no_device", "usage", "died", "new_kind"]
)
def test_errors_say_what_helps(kind):
    assert what_to_do(kind, "it did not work")


def test_a_full_disk_says_to_free_some_space_and_what_is_no_error_says_nothing():
    assert "Free some space" in what_to_do("storage", "cannot write x: the disk is full: free some space")
    assert [what_to_do(kind) for kind in (None, "put_back", "cancelled")] == ["", "", ""]


def test_counts_are_words():
    assert [images_count(number) for number in (0, 1, 2)] == ["0 images", "1 image", "2 images"]
    assert [entries_count(number) for number in (1, 3)] == ["1 job", "3 jobs"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("", "Default model"),
        ("owner/name", "name"),
        ("C:\\m\\x.gguf", "x.gguf"),
        ("/m/folder/", "folder"),
    ],
)
def test_models_are_called_by_their_last_name(path, name):
    assert model_name(row(model=path)) == name


def test_an_entry_in_words():
    view = entry_view(row(state="running", images=1), doing="Image 2 of 4", fraction=0.4, left=90)
    assert (view.word, view.note, view.fraction, view.busy) == ("Running", "Image 2 of 4", 0.4, False)
    assert view.about == "1 of 4 images · m · about 2 min left"
    assert entry_view(row(state="running")).busy
    assert entry_view(row(), left=30).about.endswith("takes about 30 s")
    assert entry_view(row(title="  ")).title == "No prompt"
    assert entry_view(row(state="done", images=4)).fraction is None


def test_an_error_is_trouble_until_it_is_tried_again():
    view = entry_view(row(state="failed", error="out of\nmemory"))
    assert (view.note, view.trouble) == ("out of memory", True)
    view = entry_view(row(state="waiting", error="it ended"))
    assert (view.note, view.trouble) == ("Last attempt: it ended", False)
    view = entry_view(row(state="waiting", error="no memory", tasks=3, counts=TaskCounts(waiting=2, failed=1)))
    assert (view.note, view.trouble) == ("Failed so far: 1 of 3: no memory", False)


def test_it_is_spoken_in_sentences():
    assert spoken(entry_view(row(state="failed", error="no memory"))) == "Failed: a hare. 0 of 4 images, m. no memory"
