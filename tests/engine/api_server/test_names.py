"""Names of models, as clients write them."""

import pytest
from fake_engine import model_info

from mezzotint.api_server.names import model_named, usable
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
