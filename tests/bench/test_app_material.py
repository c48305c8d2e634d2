"""What the window is measured with is what the program itself would meet."""

import json
from pathlib import Path

import pytest

from mezzotint.jobs.store import JobStore
from mezzotint.library.gallery.gallery import Gallery
from mezzotint.library_protocol import GalleryQuery, GalleryScan


def test_the_images_are_images_each_with_its_own_words_and_day(script, tmp_path):
    script.write_images(tmp_path / "images", 30)
    gallery = Gallery(tmp_path / "state")
    found = gallery.scan(GalleryScan(folders=(str(tmp_path / "images"),)), lambda _: None, lambda: False)
    assert (found.total, found.unreadable) == (30, 0)
    items = gallery.query(GalleryQuery(limit=50)).items
    assert len({item.prompt for item in items}) == len({item.made for item in items}) == 30
    assert [item.seed for item in items] == list(range(30))
    assert {(item.width, item.height) for item in items} == {(script.SIDE, script.SIDE)}
    assert gallery.query(GalleryQuery(search="castle desert")).total > 0
    gallery.close()


@pytest.mark.parametrize("entries", [3, 100, 250])
def test_the_queue_holds_as_many_and_is_paused(script, tmp_path, entries):
    script.fill_queue(tmp_path / "state" / "queue.sqlite", entries)
    with JobStore.open(tmp_path / "state" / "queue.sqlite").store as store:
        assert store.count(("waiting",)) == entries
        assert store.paused()


def test_nothing_of_the_persons_own_is_used(script, tmp_path):
    names = {"HOME": "/home/me", "MEZZOTINT_CONFIG": "/home/me/mine", "HF_TOKEN": "secret", "PATH": "/bin"}
    made = script.environment(tmp_path, names | {"PYTHONDONTWRITEBYTECODE": "1"})
    assert made["PATH"] == "/bin"
    assert "HF_TOKEN" not in made and "PYTHONDONTWRITEBYTECODE" not in made
    own = [
        Path(path) for name, path in made.items() if name.startswith("MEZZOTINT_") or name in ("HOME", "USERPROFILE")
    ]
    assert len(own) == 6
    assert all(path.is_dir() and path.is_relative_to(tmp_path) for path in own)


def test_settings_are_those_of_somebody_who_was_here_before(script, tmp_path):
    from mezzotint.codec import from_json

    script.write_settings(tmp_path, tmp_path / "images")
    text = (tmp_path / "config" / "window.json").read_text("utf-8")
    assert json.loads(text)["first_run_done"] is True
    settings = pytest.importorskip("mezzotint_app.settings")
    assert from_json(settings.Settings, text).output_folder == str(tmp_path / "images")
