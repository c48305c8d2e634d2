"""The hub's cache: the revision of `main`, its links into the blobs, and nothing of language models."""

import os
import sys

import pytest
from model_files import change_json, sdxl_file, sdxl_folder, write_json

from mezzotint.catalog.huggingface import is_cache, scan_cache, snapshot_of
from mezzotint.protocol import ModelRef

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(tmp_path):
    return tmp_path / "hub"


def repository(hub, name="models--org--name"):
    return hub / name


def snapshot(hub, name="models--org--name", commit=COMMIT, main=True):
    if main:
        refs = repository(hub, name) / "refs"
        refs.mkdir(parents=True, exist_ok=True)
        (refs / "main").write_text(commit)
    return repository(hub, name) / "snapshots" / commit


def found(hub):
    return [(item.name, item.layout) for item in scan_cache(hub).candidates]


def test_a_model_folder_has_the_name_of_its_repository(hub, catalog_of):
    sdxl_folder(snapshot(hub))
    assert found(hub) == [("org/name", "folder")]
    info = catalog_of(huggingface=hub).find(ModelRef(id="org/name")).info
    assert (info.source, info.family, info.problem) == ("huggingface", "sdxl", None)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_into_the_blobs_are_followed_and_others_refused(hub, catalog_of):
    folder = sdxl_folder(snapshot(hub))
    blobs = repository(hub) / "blobs"
    blobs.mkdir()
    for number, path in enumerate(sorted(folder.rglob("*.*"))):
        path.rename(blobs / str(number))
        path.symlink_to(os.path.relpath(blobs / str(number), path.parent))
    (info,) = (info for info in catalog_of(huggingface=hub).models() if info.id == "org/name")
    assert info.problem is None
    (folder / "unet" / "config.json").unlink()
    (folder / "unet" / "config.json").symlink_to("/etc/passwd")
    (info,) = (info for info in catalog_of(huggingface=hub).models() if info.id == "org/name")
    assert "leads out of the model folder" in info.problem


def test_the_revision_of_main_is_taken(hub):
    for commit in ("a" * 40, "b" * 40, "c" * 40):
        sdxl_folder(snapshot(hub, commit=commit, main=False))
    snapshot(hub, commit="b" * 40)
    assert snapshot_of(repository(hub)).name == "b" * 40


@pytest.mark.parametrize("main", ["", "../../../etc", "..", "/etc", "d" * 40, "x" * 300, "a\0b"])
def test_without_a_proper_one_the_newest(hub, main):
    old, new = (sdxl_folder(snapshot(hub, commit=c * 40, main=False)) for c in "ba")
    os.utime(old, (1, 1))
    snapshot(hub, commit=new.name)
    (repository(hub) / "refs" / "main").write_text(main)
    assert snapshot_of(repository(hub)) == new


def test_single_files_are_named_below_their_repository(hub):
    sdxl_file(snapshot(hub) / "xl_turbo_1.0.safetensors")
    assert found(hub) == [("org/name/xl_turbo_1.0", "file")]


def test_language_models_and_the_like_are_left_out(hub):
    write_json(snapshot(hub, "models--org--llm") / "config.json", {})
    sdxl_file(snapshot(hub, "models--org--llm") / "model.safetensors")
    sdxl_folder(snapshot(hub, "datasets--org--name"))
    (repository(hub, "models--org--empty") / "snapshots").mkdir(parents=True)
    (hub / "models--file").touch()
    (hub / "version.txt").write_text("1")
    assert found(hub) == []


def test_pipelines_that_cannot_run_are_listed_with_the_reason(hub, catalog_of):
    change_json(sdxl_folder(snapshot(hub)) / "model_index.json", _class_name="MarigoldDepthPipeline")
    (info,) = (info for info in catalog_of(huggingface=hub).models() if info.id == "org/name")
    assert "MarigoldDepthPipeline" in info.problem


def test_no_cache_is_no_trouble(hub, catalog_of):
    assert len(catalog_of(huggingface=hub).models()) == 1
    assert not is_cache(hub)


def test_a_cache_may_be_named_as_a_folder(hub, catalog_of):
    sdxl_folder(snapshot(hub))
    assert is_cache(hub)
    assert [info.id for info in catalog_of(hub).models()] == ["starter-dit", "org/name"]


def test_the_path_of_a_repository_stands_for_its_snapshot(hub, catalog_of):
    folder = sdxl_folder(snapshot(hub))
    assert catalog_of().find(ModelRef(id=str(repository(hub)))).info.path == str(folder)
