"""Names of models, as clients write them."""

from pathlib import Path

import pytest
from fake_engine import model_info

from mezzotint.api_server.names import file_named, loras_named, model_named, usable, without_hash
from mezzotint.api_server.refusal import Refusal

MODELS = (
    model_info(id="a/base", path="/1/base.safetensors"),
    model_info(id="b/base", path="/2/base.safetensors"),
    model_info(id="c", path="/3/house.safetensors"),
)


@pytest.mark.parametrize("name", ["c", "C", " c ", "c [0123456789]", "house", "house.safetensors [0123456789]"])
def test_a_model_by_its_id_its_title_or_its_file(name):
    assert model_named(name, MODELS, "model") == "c"


def test_a_name_of_several_models_is_refused_with_their_ids():
    with pytest.raises(Refusal, match="a/base, b/base; use one"):
        model_named("base.safetensors", MODELS, "model")
    assert model_named("a/base", MODELS, "model") == "a/base"


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(Refusal, match="nearest: a/base"):
        model_named("a/bass", MODELS, "model")


def test_refused_models_and_refiners_of_finished_images_are_not_offered():
    others = (model_info(id="x", problem="damaged"), model_info(id="y", conditional_refiner=True))
    assert usable((*MODELS, *others)) == MODELS


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("a [0123abcd]", "a"), ("a[0123ABCD] ", "a"), ("a [b] [0123abcd]", "a [b]"), ("a [xyz]", "a [xyz]"),
        ("[0123abcd]", ""), ("a [0123abcd] b", "a [0123abcd] b"), ("a " + " " * 300_000 + "[0123abc]x", None),
        ("[0123abcd" * 50_000, None), (" " * 300_000 + "a", "a"),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_hash_at_the_end_is_no_part_of_a_name(name, bare):
    assert without_hash(name) == (name if bare is None else bare)


def test_every_name_that_is_listed_means_its_own_file():
    names = ("Style [0123abcd]", "Style", "style", "x.safetensors", "a:b", "a:0.5", "a", " blank")
    files = {name: Path(f"/l/{number}") for number, name in enumerate(names)}
    for name, path in files.items():
        assert file_named(name, files, "field", "LoRA", "loras") == path
        prompt, (lora,) = loras_named(f"a house<lora:{name}:0.25>", lambda: files)
        assert (prompt, lora.path, lora.weight) == ("a house", str(path), 0.25)
    models = [model_info(id=name, path=f"/m/{number}") for number, name in enumerate((*names, "0"))]
    assert [model_named(one.id, models, "model") for one in models] == [*names, "0"]
