"""Folders and hidden models, kept in the settings that people write by hand."""

import os
import tomllib
from pathlib import Path

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from model_files import sdxl_file

from mezzotint import paths
from mezzotint.catalog import Catalog
from mezzotint.errors import StorageError, UnknownModel, UsageError
from mezzotint.library import places
from mezzotint.library.places import (
    add_place,
    hide_model,
    is_hidden,
    is_own_place,
    list_places,
    remove_place,
    unhide_model,
)
from mezzotint.protocol import ModelRef

WRITTEN = """\
# my settings
theme = "dark"  # at night

[models]
# the big disk
folders = [
    "beside",  # beside this file
]

[other]
x = 1
"""


@pytest.fixture
def config():
    folder = paths.config_folder()
    folder.mkdir(parents=True)
    (folder / "beside").mkdir()
    return folder / "config.toml"


@pytest.fixture
def folder(tmp_path):
    sdxl_file(tmp_path / "more" / "one.safetensors")
    return tmp_path / "more"


def test_a_folder_is_searched_from_now_on(folder):
    add_place(str(folder))
    assert Catalog.standard().find(ModelRef(id="one")).info.source == "folder"
    own = [place for place in list_places() if place.own]
    assert [(place.path, place.source, place.problem) for place in own] == [(str(folder), "folder", None)]
    remove_place(str(folder))
    assert not any(place.own for place in list_places())
    assert (folder / "one.safetensors").is_file()


def test_what_a_person_wrote_stays(config, folder):
    config.write_text(WRITTEN)
    add_place(str(folder))
    text = config.read_text()
    for kept in ("# my settings", 'theme = "dark"  # at night', "# the big disk", "# beside this file", "[other]"):
        assert kept in text
    assert tomllib.loads(text)["models"]["folders"] == ["beside", str(folder)]
    remove_place(str(config.parent / "beside"))
    assert tomllib.loads(config.read_text())["models"]["folders"] == [str(folder)]
    remove_place(str(folder))
    assert tomllib.loads(config.read_text()) == {"theme": "dark", "models": {"folders": []}, "other": {"x": 1}}


def test_a_folder_is_added_once(folder):
    add_place(str(folder))
    add_place(str(folder / "." / ".." / "more"))
    assert len([place for place in list_places() if place.own]) == 1


@pytest.mark.parametrize("text", ["[models", "models = 5", "[models]\nfolders = 7", "[models]\nhidden = [1]"])
def test_settings_that_cannot_be_read_are_told_and_not_replaced(config, folder, text):
    config.write_text(text)
    with pytest.raises(UsageError, match=str(config)):
        add_place(str(folder))
    assert config.read_text() == text


def test_a_full_disk_leaves_the_settings_as_they_were(config, folder, monkeypatch):
    config.write_text(WRITTEN)

    def full(*_, **__):
        raise StorageError("the disk is full")

    monkeypatch.setattr(places, "atomic_write", full)
    with pytest.raises(StorageError):
        add_place(str(folder))
    assert config.read_text() == WRITTEN


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_settings_that_are_a_link_stay_one(config, folder, tmp_path):
    true = tmp_path / "dotfiles" / "config.toml"
    true.parent.mkdir()
    true.write_text(WRITTEN)
    config.symlink_to(true)
    add_place(str(folder))
    assert config.is_symlink() and str(folder) in true.read_text()


def test_what_is_not_there_is_not_added(tmp_path):
    for path in ("", str(tmp_path / "gone"), str(tmp_path / "x\n")):
        with pytest.raises(UsageError, match="no folder"):
            add_place(path)
    (tmp_path / "bad.yaml").write_text("- 1\n")
    with pytest.raises(UsageError, match="no sections"):
        add_place(str(tmp_path / "bad.yaml"))
    assert not paths.config_folder().exists()


def test_only_what_was_added_can_be_removed(folder):
    with pytest.raises(UsageError, match="is not an added folder"):
        remove_place(str(folder))


def test_the_tree_of_another_program(tmp_path):
    sdxl_file(tmp_path / "ComfyUI" / "models" / "checkpoints" / "mine.safetensors")
    add_place(str(tmp_path / "ComfyUI"))
    assert Catalog.standard().find(ModelRef(id="mine")).info.source == "comfyui"
    assert [place.source for place in list_places() if place.own] == ["comfyui"]


def test_a_folder_that_has_gone_is_still_listed(folder):
    add_place(str(folder))
    (folder / "one.safetensors").unlink()
    folder.rmdir()
    place = next(place for place in list_places() if place.own)
    assert "does not exist" in place.problem and is_own_place(str(folder))
    remove_place(str(folder))


def test_every_usual_place_is_listed_with_the_source_of_its_models():
    assert [place.source for place in list_places()] == ["bundled", "models", "huggingface"]
    assert [place.problem for place in list_places()] == [None, "does not exist yet", "does not exist"]


@pytest.mark.parametrize("named", ["mine", "path"])
def test_a_model_is_left_out_of_lists_and_can_still_be_named(named):
    path = sdxl_file(paths.models_folder() / "mine.safetensors")
    hide_model(Catalog.standard(), "mine" if named == "mine" else str(path))
    assert "mine" not in {model.id for model in Catalog.standard().models()}
    assert {model.id: model.hidden for model in Catalog.standard().models(hidden=True)}["mine"]
    assert Catalog.standard().find(ModelRef(id="mine")).info.id == "mine"
    assert is_hidden(Catalog.standard(), "mine") and path.is_file()
    unhide_model(Catalog.standard(), "mine")
    assert "mine" in {model.id for model in Catalog.standard().models()}


def test_it_stays_hidden_when_its_id_changes():
    sdxl_file(paths.models_folder() / "a" / "mine.safetensors")
    hide_model(Catalog.standard(), "mine")
    sdxl_file(paths.models_folder() / "b" / "mine.safetensors")
    listed = [Path(model.path) for model in Catalog.standard().models() if model.source == "models"]
    assert listed == [paths.models_folder() / "b" / "mine.safetensors"]


def test_a_bundled_model_is_hidden_by_its_id():
    hide_model(Catalog.standard(), "starter-xl")
    hide_model(Catalog.standard(), "starter-xl")
    written = tomllib.loads((paths.config_folder() / "config.toml").read_text())
    assert written == {"models": {"hidden": ["starter-xl"]}}
    assert "starter-xl" not in {model.id for model in Catalog.standard().models()}


def test_a_bundled_variant_is_listed_once_asked_for():
    def listed():
        return "starter-pyramid" in {model.id for model in Catalog.standard().models()}

    def written():
        return tomllib.loads((paths.config_folder() / "config.toml").read_text())["models"]

    assert not listed() and is_hidden(Catalog.standard(), "starter-pyramid")
    assert Catalog.standard().find(ModelRef(id="starter-pyramid")).info.defaults.width == 256
    unhide_model(Catalog.standard(), "starter-pyramid")
    assert listed() and written() == {"hidden": [], "shown": ["starter-pyramid"]}
    hide_model(Catalog.standard(), "starter-pyramid")
    assert not listed() and written() == {"hidden": [], "shown": []}
    unhide_model(Catalog.standard(), "starter-pyramid")
    assert listed()


def test_an_unknown_model():
    with pytest.raises(UnknownModel):
        hide_model(Catalog.standard(), "nobody")
    assert not is_hidden(Catalog.standard(), "nobody")


@given(st.lists(st.text(max_size=12), max_size=6, unique=True), st.data())
def test_lists_end_as_they_are_wanted(items, data):
    before = data.draw(st.lists(st.text(max_size=12), max_size=6, unique=True))
    wanted = [one for one in before if data.draw(st.booleans())]
    wanted += [one for one in items if one not in before]
    document = tomlkit.parse(tomlkit.dumps({"folders": before}))
    places._update_array(document["folders"], wanted)
    assert tomllib.loads(tomlkit.dumps(document))["folders"] == wanted
