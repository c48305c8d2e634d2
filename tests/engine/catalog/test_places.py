"""Where is looked, and in which order."""

import os
from pathlib import Path

import pytest
from model_files import sdxl_file

from mezzotint import paths
from mezzotint.catalog.places import Places, all_places, standard_places
from mezzotint.errors import UsageError


@pytest.fixture
def config():
    folder = paths.config_folder()
    folder.mkdir(parents=True)
    return folder / "config.toml"


def test_folders_come_from_the_call_the_environment_and_the_settings(config, tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_MODEL_PATH", os.pathsep.join([str(tmp_path / "b"), "", str(tmp_path / "c")]))
    (Path.home() / "ComfyUI" / "models" / "checkpoints").mkdir(parents=True)
    config.write_text("[models]\nfolders = ['~/d', 'beside']\n")
    places = standard_places([tmp_path / "a"])
    home = Path.home()
    assert places.named == (
        *(tmp_path / name for name in "abc"),
        home / "d",
        config.parent / "beside",
        home / "ComfyUI",
    )
    assert places.models == paths.models_folder()
    assert places.huggingface == paths.huggingface_cache()
    assert places.bundled == paths.assets_folder() / "starter"


def test_without_settings_only_the_usual(config):
    assert standard_places().named == ()
    config.write_text("[other]\nx = 1\n")
    assert standard_places().named == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[models", "settings cannot be read"),
        ("models = 5", r"folders in \[models\] must be a list"),
        ("[models]\nfolders = 'x'", "must be a list"),
        ("[models]\nfolders = [1]", "must be a list"),
        ("x = " + "[" * 5000, "settings cannot be read"),
        ("#" * (2**20 + 1), "larger than"),
    ],
)
def test_settings_that_make_no_sense_are_told(config, text, message):
    config.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        standard_places()
    assert str(config) in str(caught.value)


def test_places_are_in_order_and_those_missing_are_told(tmp_path):
    for name in ("bundled", "models", "named", "hub"):
        (tmp_path / name).mkdir()
    file = sdxl_file(tmp_path / "x.safetensors")
    (tmp_path / "more.yaml").write_text("a:\n  checkpoints: named\n")
    places, notices = all_places(
        Places(
            bundled=tmp_path / "bundled",
            models=tmp_path / "models",
            named=(tmp_path / "named", tmp_path / "none", file, tmp_path / "more.yaml"),
            huggingface=tmp_path / "hub",
        )
    )
    assert [(place.path.name, place.source) for place in places] == [
        ("bundled", "bundled"),
        ("models", "models"),
        ("named", "folder"),
        ("x.safetensors", "folder"),
        ("named", "comfyui"),
        ("hub", "huggingface"),
    ]
    assert notices == (f"{tmp_path / 'none'} is listed as a folder of models, but does not exist",)


def test_places_that_are_not_made_yet_are_no_trouble(tmp_path):
    nowhere = tmp_path / "none"
    assert all_places(Places(bundled=nowhere, models=nowhere, huggingface=nowhere)) == ((), ())
    assert all_places(Places()) == ((), ())


def test_models_that_are_hidden(config):
    config.write_text("[models]\nhidden = ['starter-xl']\n")
    assert standard_places().hidden == {"starter-xl"}
    config.write_text("[models]\nhidden = 'starter-xl'\n")
    with pytest.raises(UsageError, match=r"hidden in \[models\] must be a list such as"):
        standard_places()


def test_settings_may_begin_with_a_byte_order_mark(config):
    config.write_text("[models]\nhidden = ['starter-xl']\n", "utf-8-sig")
    assert standard_places().hidden == {"starter-xl"}
