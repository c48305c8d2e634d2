"""LoRA files by name."""

import pytest

from mezzotint.catalog import loras
from mezzotint.catalog.loras import loras_in
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
    found = loras_in(places)
    assert sorted(found) == ["a", "b"]
    assert found["a"] == tmp_path / "own/loras/a.safetensors"
    assert loras_in(Places()) == {}


def test_only_so_many_are_listed(places, monkeypatch):
    monkeypatch.setattr(loras, "_MOST_FILES", 1)
    assert len(loras_in(places)) == 1
