"""A name in an image finds its model, or the nearest; hostile names find nothing and harm nothing."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import Cascade, GenerateRequest, ImageMetadata, ModelInfo, ModelRef, Stage
from mezzotint_app.viewmodel.models.nearest_model import is_here, name_in, nearest, with_model


def model(identity, problem=None):
    return ModelInfo(
        id=identity,
        path=f"/models/{identity}.safetensors",
        layout="file",
        family="sdxl",
        variant="base",
        bytes=1,
        source="models",
        defaults=None,
        problem=problem,
    )


def metadata(name=None, request=None):
    return ImageMetadata(
        program="a1111",
        prompt="x",
        negative_prompt=None,
        width=None,
        height=None,
        seed=None,
        steps=None,
        sampler=None,
        schedule=None,
        guidance_scale=None,
        strength=None,
        model=name,
        model_hash="abc",
        request=request,
        other={},
    )


MODELS = (model("sdxl-base-1.0"), model("juggernaut-xl"), model("pixart-sigma"), model("dreamshaper-8", problem="old"))


def test_ids_paths_and_other_spellings_are_here():
    for name in (
        "juggernaut-xl",
        "/models/juggernaut-xl.safetensors",
        "Juggernaut_XL.safetensors",
        r"C:\m\juggernaut xl.ckpt",
    ):
        assert is_here(name, MODELS), name
    assert not is_here("juggernaut-xl-v9", MODELS)


def test_the_nearest_by_name():
    assert nearest("sd_xl_base_1.0.safetensors", MODELS).id == "sdxl-base-1.0"
    assert nearest("juggernautXL_v9Rdphoto2.safetensors", MODELS).id == "juggernaut-xl"
    assert nearest("something else entirely 123", MODELS) is None
    assert nearest("dreamshaper-8", MODELS) is None, "a model that cannot be run is no help"
    assert nearest("x", ()) is None


@given(st.text(max_size=300))
def test_any_name_is_taken(name):
    is_here(name, MODELS)
    found = nearest(name, MODELS)
    assert found is None or found in MODELS


def test_a_name_of_ten_kilobytes_is_cut():
    assert nearest("x" * 10_000, MODELS) is None


def test_the_model_is_replaced_in_what_the_image_says():
    replaced = with_model(metadata("far"), "near")
    assert (name_in(replaced), replaced.model_hash) == ("near", None)
    request = GenerateRequest(
        prompt="x", cascade=Cascade(stages=(Stage(model=ModelRef(id="far", sha256="00"), width=512), Stage(width=1024)))
    )
    ours = with_model(metadata("far", request), "near")
    assert name_in(ours) == "near"
    assert ours.request.cascade.stages[0] == Stage(model=ModelRef(id="near"), width=512)
    assert ours.request.cascade.stages[1] == Stage(width=1024)


def test_a_request_without_stages_names_no_model():
    empty = metadata("far", GenerateRequest(prompt="x", cascade=Cascade(stages=())))
    assert name_in(empty) is None
    assert with_model(empty, "near") == empty
