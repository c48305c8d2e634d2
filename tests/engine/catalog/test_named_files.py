"""Files of a kind by name."""

import pytest

from mezzotint.catalog import named_files as module
from mezzotint.catalog.named_files import CONTROLNETS, EMBEDDINGS, LORAS, file_of, named_files
from mezzotint.catalog.places import Places


@pytest.fixture
def places(tmp_path):
    for name in ("own/loras/a.safetensors", "a1111/models/Lora/deep/b.SAFETENSORS", "a1111/models/Lora/a.safetensors",
                 "own/loras/c.pt", "own/d.safetensors", "own/loras/1/2/3/4/5/e.safetensors"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return Places(models=tmp_path / "own", named=(tmp_path / "a1111", tmp_path / "absent"))


def test_they_are_found_in_the_usual_folders_the_first_of_a_name(places, tmp_path):
    found = named_files(places, LORAS)
    assert sorted(found) == ["a", "b"]
    assert found["a"] == tmp_path / "own/loras/a.safetensors"
    assert named_files(Places(), LORAS) == {}


def test_only_so_many_are_listed(places, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FILES", 1)
    assert len(named_files(places, LORAS)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "rose.training/encoded/0.safetensors",
        "1/Rose.TRAINING/state.safetensors",
        ".cache/x.safetensors",
        "._a.safetensors",
    ],
)
def test_caches_of_trainings_and_hidden_files_are_not_listed(places, tmp_path, name):
    path = tmp_path / "own/loras" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    assert sorted(named_files(places, LORAS)) == ["a", "b"]


def test_each_kind_has_folders_of_its_own(places, tmp_path):
    path = tmp_path / "a1111/models/ControlNet/canny.safetensors"
    path.parent.mkdir()
    path.write_bytes(b"")
    assert named_files(places, CONTROLNETS) == {"canny": path}
    assert "canny" not in named_files(places, LORAS)
    assert file_of("Canny.safetensors", places, (CONTROLNETS, LORAS)) == str(path)
    assert file_of("a", places, (CONTROLNETS, LORAS)) == str(tmp_path / "own/loras/a.safetensors")
    for other in ("", "depth", str(path), "a/canny"):
        assert file_of(other, places, (CONTROLNETS, LORAS)) == other


def test_a_folder_of_the_usual_name_may_be_named_itself(places, tmp_path):
    alone = Places(named=(tmp_path / "own/loras",))
    assert sorted(named_files(alone, LORAS)) == ["a"]


def test_of_an_embedding_in_both_formats_safetensors_is_taken(tmp_path):
    for name in ("a.pt", "a.safetensors", "b.bin", "sub/a.safetensors", "c.txt"):
        (tmp_path / "embeddings" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "embeddings" / name).write_bytes(b"")
    found = named_files(Places(named=(tmp_path,)), EMBEDDINGS)
    assert {name: path.name for name, path in found.items()} == {"a": "a.safetensors", "b": "b.bin"}
    assert found["a"].parent.name == "embeddings"
