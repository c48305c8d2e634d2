import os
import sys

import pytest
from model_files import sdxl_file, sdxl_folder, small

from mezzotint.catalog import scan as module
from mezzotint.catalog.place import Place
from mezzotint.catalog.scan import scan


def found(folder):
    return [(item.name, item.long_name, item.layout) for item in scan(Place(path=folder, source="folder")).candidates]


def test_files_and_folders_at_any_reasonable_depth(tmp_path):
    root = tmp_path / "models"
    sdxl_file(root / "a.safetensors")
    sdxl_file(root / "x" / "y" / "b.SAFETENSORS")
    sdxl_folder(root / "z" / "folder.v1")
    (root / "z" / "c.ckpt").touch()
    (root / "d.gguf").touch()
    assert found(root) == [
        ("a", "models/a", "file"),
        ("d.gguf", "models/d.gguf", "file"),
        ("b", "models/x/y/b", "file"),
        ("c.ckpt", "models/z/c.ckpt", "file"),
        ("folder.v1", "models/z/folder.v1", "folder"),
    ]


def test_what_is_no_model_is_left_out(tmp_path):
    for name in ("notes.txt", "a.safetensors.part", "config.json", "._a.safetensors", ".hidden.safetensors"):
        (tmp_path / name).write_bytes(small())
    (tmp_path / "folder.safetensors").mkdir()
    sdxl_file(tmp_path / ".cache" / "a.safetensors")
    sdxl_file(tmp_path / "portraits" / "rose.training" / "epochs" / "paused.safetensors")
    assert found(tmp_path) == []


def test_folders_of_other_files_are_left_out(tmp_path):
    sdxl_file(tmp_path / "a.safetensors")
    sdxl_file(tmp_path / "deep" / "LoRAs" / "b.safetensors")
    names = [one.name for one in scan(Place(path=tmp_path, source="folder"), without={"loras"}).candidates]
    assert names == ["a"] and len(found(tmp_path)) == 2


def test_a_model_folder_is_one_model(tmp_path):
    sdxl_folder(tmp_path / "model")
    sdxl_file(tmp_path / "model" / "whole.safetensors")
    assert [name for name, _, _ in found(tmp_path)] == ["model"]


def test_the_place_may_be_a_model_itself(tmp_path):
    sdxl_folder(tmp_path / "model")
    assert found(tmp_path / "model") == [("model", f"{tmp_path.name}/model", "folder")]
    file = sdxl_file(tmp_path / "a.safetensors")
    assert found(file) == [("a", f"{tmp_path.name}/a", "file")]


def test_names_are_made_fit_to_be_shown(tmp_path):
    try:
        sdxl_file(tmp_path / "a\nb\u202e.safetensors")
    except OSError:
        pytest.skip("the file system takes no such name")
    assert found(tmp_path)[0][0] == "a\\nb\\u202e"


@pytest.mark.skipif(sys.platform != "linux", reason="only there names are any bytes")
def test_names_that_are_no_text_are_shown_spelled_out(tmp_path):
    with open(os.fsencode(tmp_path) + b"/\xff.safetensors", "wb") as file:
        file.write(small())
    assert found(tmp_path)[0][0] == "\\udcff"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_loops_of_links_end_and_links_are_followed(tmp_path):
    root = tmp_path / "models"
    sdxl_file(root / "a.safetensors")
    sdxl_file(tmp_path / "elsewhere" / "b.safetensors")
    (root / "loop").symlink_to(root)
    (root / "itself").symlink_to(root / "itself")
    (root / "other").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(root)
    assert [name for name, _, _ in found(root)] == ["a", "b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_pipes_are_no_models(tmp_path):
    os.mkfifo(tmp_path / "a.safetensors")
    assert found(tmp_path) == []


def test_depth_is_bounded(tmp_path):
    sdxl_file(tmp_path.joinpath(*"12345", "in.safetensors"))
    sdxl_file(tmp_path.joinpath(*"123456", "out.safetensors"))
    assert [name for name, _, _ in found(tmp_path)] == ["in"]


def test_number_is_bounded_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 10)
    for number in range(11):
        (tmp_path / f"{number}.txt").touch()
    result = scan(Place(path=tmp_path, source="folder"))
    assert "has 10 entries or more" in result.notices[0]


def test_a_folder_that_cannot_be_read_is_told_and_the_rest_is_found(tmp_path, monkeypatch):
    sdxl_file(tmp_path / "a.safetensors")
    sdxl_file(tmp_path / "locked" / "b.safetensors")
    original = os.scandir

    def forbid(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(module.os, "scandir", forbid)
    result = scan(Place(path=tmp_path, source="folder"))
    assert [item.name for item in result.candidates] == ["a"]
    assert result.notices == (f"{tmp_path / 'locked'} cannot be read: Permission denied",)
