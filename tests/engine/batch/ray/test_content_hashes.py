"""Models and files that must be the same on every node."""

from dataclasses import replace

import pytest
from batch_programs import task
from ray_programs import hash_of

from mezzotint.batch.ray.content_hashes import ContentHashes, Need, standard_hashes
from mezzotint.catalog import Catalog
from mezzotint.errors import StorageError, UnknownModel
from mezzotint.protocol import Cascade, LoraRef, ModelRef, Stage, Transition
from mezzotint.values.details import DetailRef


def request(folder, *stages, **changes):
    cascade = Cascade(stages=stages, transitions=(Transition(strength=0.5),) * (len(stages) - 1))
    return replace(task(1, folder).request, cascade=cascade, **changes)


def test_all_that_decides_an_image_is_needed_once(tmp_path):
    asked = []

    def hashed(kind, name):
        asked.append((kind, name))
        return name

    first = Stage(model=ModelRef(id="starter", vae="v"), weights="w.gguf", loras=(LoraRef(path="own"),))
    one = request(tmp_path, first, Stage(), Stage(model=ModelRef(id="big")), loras=(LoraRef(path="all"),))
    detector = tmp_path / "detector"
    detector.mkdir()
    (detector / "model.safetensors").touch()
    details = (DetailRef(label="face", model=str(detector)), DetailRef(label="face", model="a name"))
    other = request(tmp_path, Stage(model=ModelRef(id="big")), embeddings=("words",), details=details)
    hashes = ContentHashes(hashed, "starter")
    needs = hashes.required([one, other])
    expected = [
        ("model", "starter"),
        ("file", "v"),
        ("file", "w.gguf"),
        ("file", "own"),
        ("model", "big"),
        ("file", "all"),
        ("file", "words"),
        ("file", str(detector / "model.safetensors")),
    ]
    assert [(need.kind, need.name) for need in needs] == expected
    hashes.required([one, other])
    assert hashes.mismatch(needs) is None
    assert asked == expected


def test_what_is_absent_or_another_is_told():
    hashes = ContentHashes(hash_of, "starter")
    assert hashes.mismatch([Need(kind="model", name="starter", sha256="0" * 64)]).startswith(
        "the model starter has different content there (sha256 6d6d6d6d6d6d..., here 000000000000..."
    )
    assert (
        hashes.mismatch([Need(kind="model", name="absent", sha256="")])
        == "the model absent cannot be used there (no model is called 'absent')"
    )


def test_the_bundled_model_is_known_by_its_weights(tmp_path):
    hashes = standard_hashes(Catalog.standard())
    (need,) = hashes.required([request(tmp_path, Stage())])
    assert (need.kind, need.name, len(need.sha256)) == ("model", "starter-dit", 64)
    assert standard_hashes(Catalog.standard()).mismatch([need]) is None
    with pytest.raises(UnknownModel):
        hashes.required([request(tmp_path, Stage(model=ModelRef(id="nothing of that name")))])
    with pytest.raises(StorageError):
        hashes.required([request(tmp_path, Stage(weights=str(tmp_path / "gone.gguf")))])
