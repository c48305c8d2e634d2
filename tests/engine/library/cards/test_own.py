"""What the user says of a file is kept, follows it, and comes before what is found."""

import json

import pytest
from PIL import Image

from mezzotint.errors import ImageRefused, UsageError
from mezzotint.library.cards.own import save_card, save_picture, with_own
from mezzotint.library_protocol import ModelCard, SaveCard


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config" / "model_notes"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ink.safetensors"
    path.write_bytes(b"12345")
    return path


def card(path):
    return with_own(ModelCard(path=str(path), name="ink", tags=("found",), trigger_words=("said",)))


def test_it_replaces_what_was_found_and_follows_a_moved_file(file, tmp_path):
    assert card(file).tags == ("found",)
    save_card(SaveCard(path=str(file), tags=("a", " a ", "b"), trigger_words=(), notes="good\0 at 0.6\n\nyes"))
    (tmp_path / "moved").mkdir()
    found = card(file.rename(tmp_path / "moved" / file.name))
    assert (found.tags, found.trigger_words, found.notes) == (("a", "b"), (), "good at 0.6\n\nyes")


def test_another_file_of_that_name_has_its_own(file, tmp_path):
    save_card(SaveCard(path=str(file), tags=("a",), trigger_words=(), notes=""))
    file.write_bytes(b"another size")
    assert card(file).tags == ("found",)


def test_a_picture_is_copied_small_and_removed(file, tmp_path):
    Image.new("RGB", (1000, 500)).save(tmp_path / "large.png")
    with Image.open(save_picture(str(file), str(tmp_path / "large.png"))) as image:
        assert image.size == (384, 192)
    assert card(file).picture is not None
    (tmp_path / "bad.png").write_bytes(b"no image")
    with pytest.raises(ImageRefused):
        save_picture(str(file), str(tmp_path / "bad.png"))
    assert save_picture(str(file), None) == ""
    assert card(file).picture is None


def test_a_damaged_or_newer_file_is_not_lost(file, folder):
    save_card(SaveCard(path=str(file), tags=("a",), trigger_words=(), notes=""))
    (stored,) = folder.iterdir()
    stored.write_text("{")
    assert card(file).tags == ("found",)
    stored.write_text(json.dumps({"version": 2, "tags": ["later"]}))
    assert card(file).tags == ("later",)
    with pytest.raises(UsageError, match="newer Mezzotint"):
        save_card(SaveCard(path=str(file), tags=(), trigger_words=(), notes=""))
