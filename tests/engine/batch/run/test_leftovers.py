"""Files that were being written when their process was ended."""

import os
import threading

import pytest

from mezzotint.batch.run.leftovers import OLD, sweep

NOW = 1_700_000_000.0
OURS = ".mezzotint-0123456789abcdef.part"


@pytest.fixture
def aged(tmp_path):
    """Makes a file so many seconds old."""

    def make(name, age=2 * OLD):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half an image")
        os.utime(path, (NOW - age, NOW - age))
        return path

    return make


def test_old_ones_of_ours_go_wherever_they_are(tmp_path, aged):
    gone = [aged(OURS), aged(f"a/b/{OURS}")]
    kept = [
        aged(f"a/{OURS}", age=OLD - 1),
        aged("a/b/image.png"),
        aged(".mezzotint-notes.part"),
        aged(".mezzotint-0123456789abcdef.png"),
        aged(".mezzotint-0123456789ABCDEF.part"),
        aged(f"{OURS}.png"),
    ]
    assert sweep(tmp_path, NOW, threading.Event()) == 2
    assert not any(path.exists() for path in gone) and all(path.exists() for path in kept)


def test_asked_to_stop_it_stops(tmp_path, aged):
    one, stopped = aged(OURS), threading.Event()
    stopped.set()
    assert sweep(tmp_path, NOW, stopped) == 0
    assert one.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows gives few people the right to make links")
def test_links_are_not_followed_nor_taken_for_files(tmp_path, aged):
    elsewhere = aged(f"elsewhere/{OURS}")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "way").symlink_to(elsewhere.parent)
    (tmp_path / "out" / ".mezzotint-ffffffffffffffff.part").symlink_to(elsewhere)
    assert sweep(tmp_path / "out", NOW, threading.Event()) == 0
    assert elsewhere.exists()


def test_a_folder_that_is_not_there_has_none(tmp_path):
    assert sweep(tmp_path / "nowhere", NOW, threading.Event()) == 0
