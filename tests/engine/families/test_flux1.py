"""FLUX.1: what images that agree with another program's cannot show."""

import pytest
import torch
from original_files import write
from tiny_flux1 import write_tiny_flux

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.folder import open_folder
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.flux1.family import Flux1
from mezzotint.families.footprints import _tokens_for, footprint_of
from mezzotint.library.tokens import TokenCounter
from mezzotint.library_protocol import TokenRequest

DEFAULTS = {  # steps and guidance
    "dev": (28, 3.5),
    "kontext": (28, 2.5),
    "schnell": (4, 1.0),
    "fill": (50, 30.0),
    "canny": (50, 30.0),
    "depth": (30, 10.0),
    "undistilled": (28, 3.5),
    "edit": (28, 3.5),
}


@pytest.fixture(scope="module", params=["dev", "kontext", "schnell", "undistilled", "edit"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flux") / "model"
    return request.param, write_tiny_flux(folder, variant=request.param)


def sources_of(folder):
    checkpoint = open_folder(folder)
    return Flux1().sources(checkpoint, detect(checkpoint))


def test_the_variant_is_told_by_layers_for_guidance(model):
    variant, folder = model
    found = detect(open_folder(folder))
    assert (found.family, found.variant) == ("flux", variant)
    assert (found.defaults.steps, found.defaults.guidance_scale) == DEFAULTS[variant]


def file_of(path, *, channels=64, guidance=True):
    shapes = {"img_in.weight": (48, channels), "vector_in.in_layer.weight": (48, 16)}
    shapes["single_blocks.0.modulation.lin.weight"] = (144, 48)
    shapes |= {"guidance_in.in_layer.weight": (48, 256)} if guidance else {}
    return open_checkpoint(write(path, {name: torch.zeros(shape) for name, shape in shapes.items()}))


@pytest.mark.parametrize(
    ("name", "shapes", "variant"),
    [
        ("flux1-dev", {}, "dev"),
        ("flux1-krea-dev_fp8_scaled", {}, "dev"),
        ("flux1-dev-kontext_fp8_scaled", {}, "kontext"),
        ("flux1-fill-dev", {"channels": 384}, "fill"),
        ("flux1-canny-dev", {"channels": 128}, "canny"),
        ("flux1-depth-dev", {"channels": 128}, "depth"),
        ("flux1-schnell", {"guidance": False}, "schnell"),
        ("OpenFLUX.1-fp8", {"guidance": False}, "undistilled"),
    ],
)
def test_the_variant_of_a_file_is_told_by_shapes_and_its_name(name, shapes, variant, tmp_path):
    found = detect(file_of(tmp_path / f"{name}.safetensors", **shapes))
    assert (found.family, found.variant) == ("flux", variant)
    assert (found.defaults.steps, found.defaults.guidance_scale) == DEFAULTS[variant]


@pytest.mark.slow
def test_fill_sees_each_pixel_of_a_mask(tmp_path):
    sources = sources_of(write_tiny_flux(tmp_path / "fill", variant="fill"))
    assert (sources.detected.variant, sources.takes_mask, sources.mask_channels) == ("fill", True, 64)
    assert not footprint_of(sources, model_id="flux").guided


def test_a_transformer_with_other_channels_is_refused(tmp_path):
    with pytest.raises(ModelRefused, match="a transformer with 96 input channels cannot be run; get one wi"):
        detect(file_of(tmp_path / "flux1.safetensors", channels=96))


@pytest.mark.parametrize("tokens", [16, 256, 1024, 4096, 8192])
def test_noise_is_shifted_as_its_pipeline_does(tokens):
    from diffusers.pipelines.flux.pipeline_flux import calculate_shift

    assert Flux1().mu({}, tokens, 28) == calculate_shift(tokens)


@pytest.mark.slow_after(2)
def test_only_models_without_distilled_guidance_have_a_second_pass(model):
    variant, folder = model
    sources, true_cfg = sources_of(folder), variant in ("undistilled", "edit")
    assert Flux1().has_halves(sources, 3.5) == true_cfg
    assert footprint_of(sources, model_id="flux").guided == true_cfg


def test_a_folder_may_say_that_it_takes_fewer_tokens(tmp_path):
    folder = write_tiny_flux(tmp_path / "model")
    (folder / "mezzotint.json").write_text('{"max_tokens": 48}')
    assert Flux1().text_tokens(sources_of(folder)) == 48


def test_a_folder_may_say_which_variant_it_is(tmp_path):
    folder = write_tiny_flux(tmp_path / "model", variant="schnell")
    (folder / "mezzotint.json").write_text('{"variant": "undistilled"}')
    found = detect(open_folder(folder))
    assert (found.variant, found.guidance, found.defaults.steps) == ("undistilled", "cfg", 28)


def test_t5_sees_no_mask_and_the_network_as_many_tokens_as_t5(model):
    variant, folder = model
    sources = sources_of(folder)
    known = {name: _tokens_for(sources, name) for name in ("text_encoder", "text_encoder_2", "transformer")}
    assert known == {"text_encoder": 0, "text_encoder_2": 0, "transformer": (256 if variant == "schnell" else 512)}


def test_words_are_counted_for_both_encoders(model):
    variant, folder = model
    counts = TokenCounter(Catalog.standard().find).count(TokenRequest(model=str(folder), prompt="a red house " * 100))
    assert [(one.encoder, one.limit) for one in counts] == [
        ("text_encoder", 75),
        ("text_encoder_2", (256 if variant == "schnell" else 512) - 1),
    ]
    assert counts[0].cut == counts[0].tokens - 75 > 0


def test_true_cfg_stands_beside_embedded_guidance_and_for_the_guidance_of_others(model, tmp_path):
    from flow_parity import request_of

    from mezzotint.engine import Engine
    from mezzotint.protocol import Notice

    variant, folder = model
    events = []
    asked = {"guidance_scale": 3.5, "true_cfg_scale": 2.0, "negative_prompt": "rain"}
    request = request_of(folder, tmp_path, steps=1, **asked)
    stage = Engine(Catalog.standard()).generate(request, events.append, lambda: False).stages[0]
    told = {one.code: one.message for one in events if isinstance(one, Notice)}
    assert "negative_ignored" not in told
    if variant in ("undistilled", "edit"):
        assert (stage.guidance_scale, stage.true_cfg_scale) == (2.0, None)
        assert told["guidance_unused"].endswith("has no distilled guidance: guidance 3.5 is not used")
    else:
        assert (stage.guidance_scale, stage.true_cfg_scale) == (3.5, 2.0)
        assert "guidance_unused" not in told


def test_a_negative_prompt_is_said_to_have_no_part(model, tmp_path):
    from flow_parity import request_of

    from mezzotint.engine import Engine
    from mezzotint.protocol import Notice

    variant, folder = model
    events = []
    request = request_of(folder, tmp_path, steps=1, guidance_scale=3.5, negative_prompt="rain")
    Engine(Catalog.standard()).generate(request, events.append, lambda: False)
    told = [one.message for one in events if isinstance(one, Notice) and one.code == "negative_ignored"]
    if variant in ("undistilled", "edit"):
        assert told == []
    else:
        assert len(told) == 1
        assert told[0].startswith("the model has embedded guidance")
