"""Krea 2: what parity with diffusers does not show."""

import json

import pytest
import torch
from tiny_krea2 import LAYERS, write_tiny_krea2

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.krea2.family import Krea2
from mezzotint.families.loading.networks import load_components


@pytest.fixture(scope="module", params=["turbo", "raw"])
def variant(request):
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory, variant):
    return write_tiny_krea2(tmp_path_factory.mktemp("k") / "Krea-2", distilled=variant == "turbo")


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def test_its_pipeline_says_which_it_is(folder, variant):
    detected = detect(open_checkpoint(folder))
    assert (detected.family, detected.variant) == ("krea2", variant)
    assert detected.defaults.guidance_scale == {"turbo": 1.0, "raw": 5.5}[variant]


@pytest.mark.parametrize(("side", "mu"), [(256, 0.5), (1024, 0.906), (1280, 1.15)])
def test_the_noise_of_raw_is_shifted_by_the_image_s_size(folder, variant, side, mu):
    flow = Krea2().flow_steps(sources_of(folder), side, side, 8)
    assert flow.mu == (1.15 if variant == "turbo" else pytest.approx(mu, abs=0.001))


def test_layers_of_the_encoder_after_the_last_that_is_seen_are_left_out(folder):
    config = sources_of(folder).components["text_encoder"].config
    assert config["num_hidden_layers"] == max(LAYERS)
    assert config["tie_last_hidden_states"] is False


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"text_encoder_select_layers": [1, 9]}, "text_encoder_select_layers"),
        ({"text_encoder_select_layers": [-1, 2]}, "text_encoder_select_layers"),
        ({"text_encoder_select_layers": [1, 2, 3]}, "names 3 layers up to 3; the transformer takes 2"),
        ({"patch_size": 4}, "patch_size"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, change, fault):
    written = write_tiny_krea2(tmp_path / "model")
    index = written / "model_index.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | change))
    with pytest.raises(ModelRefused, match=fault):
        sources_of(written)


def test_scales_of_its_norms_and_frequencies_of_positions_are_not_rounded(folder):
    model = LoadedModel(sources=sources_of(folder), device=torch.device("cpu"), dtype=torch.bfloat16)
    load_components(
        model, ["text_encoder", "transformer"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None
    )
    transformer, encoder = model.networks["transformer"], model.networks["text_encoder"]
    wide = {name for name, each in transformer.named_parameters() if each.dtype == torch.float32}
    assert wide == {name for name, _ in transformer.named_parameters() if "norm" in name}
    assert {each.dtype for each in encoder.buffers()} == {torch.float32}
    assert {each.dtype for each in encoder.parameters()} == {torch.bfloat16}
