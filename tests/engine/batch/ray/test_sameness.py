"""Models and files that must be the same on every node."""

from dataclasses import replace

import pytest
from batch_programs import task
from ray_programs import hash_of

from mezzotint.batch.ray.sameness import Need, Sameness, standard_sameness
from mezzotint.catalog import Catalog
from mezzotint.errors import StorageError, UnknownModel
from mezzotint.protocol import Cascade, LoraRef, ModelRef, Stage, Transition


def request(folder, *stages, **changes):
    cascade = Cascade(stages=stages, transitions=(Transition(strength=0.5),) * (len(stages) - 1))
    return replace(task(1, folder).request, cascade=cascade, **changes)


def test_all_that_decides_an_image_is_needed_once(tmp_path):
    asked = []

    def hashed(kind, name):
        asked.append((kind, name))
        return name

    first = Stage(weights="w.gguf", loras=(LoraRef(path="own"),))
    one = request(tmp_path, first, Stage(), Stage(model=ModelRef(id="big")), loras=(LoraRef(path="all"),))
    other = request(tmp_path, Stage(model=ModelRef(id="big")), embeddings=("words",))
    same = Sameness(hashed, "starter")
    needs = same.needs([one, other])
    expected = [
        ("model", "starter"),
        ("file", "w.gguf"),
        ("file", "own"),
        ("model", "big"),
        ("file", "all"),
        ("file", "words"),
    ]
    assert [(need.kind, need.name) for need in needs] == expected
    same.needs([one, other])
    assert same.trouble(needs) is None
    assert asked == expected


def test_what_is_absent_or_another_is_told():
    same = Sameness(hash_of, "starter")
    assert same.trouble([Need(kind="model", name="starter", sha256="0" * 64)]).startswith(
        "the model starter has other content there (sha256 6d6d6d6d6d6d..., here 000000000000..."
    )
    assert (
        same.trouble([Need(kind="model", name="absent", sha256="")])
        == "the model absent cannot be used there (no model is called 'absent')"
    )


def test_the_bundled_model_is_known_by_its_weights(tmp_path):
    same = standard_sameness(Catalog.standard())
    (need,) = same.needs([request(tmp_path, Stage())])
    assert (need.kind, need.name, len(need.sha256)) == ("model", "starter-dit", 64)
    assert standard_sameness(Catalog.standard()).trouble([need]) is None
    with pytest.raises(UnknownModel):
        same.needs([request(tmp_path, Stage(model=ModelRef(id="nothing of that name")))])
    with pytest.raises(StorageError):
        same.needs([request(tmp_path, Stage(weights=str(tmp_path / "gone.gguf")))])
