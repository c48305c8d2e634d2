"""What holds for every family of flow-matching transformers alike."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, loaded, request_of
from PIL import Image
from tiny_chroma import write_tiny_chroma
from tiny_flux1 import write_tiny_flux
from tiny_flux2 import write_tiny_klein
from tiny_krea2 import write_tiny_krea2
from tiny_qwen_image import write_tiny_edit, write_tiny_qwen_image
from tiny_sana import write_tiny_sana, write_tiny_sprint
from tiny_sd3 import write_tiny_sd3
from tiny_z_image import write_tiny_z_image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.families.family import PromptInputs
from mezzotint.families.known import family_of
from mezzotint.memory_protocol import PlanRequest
from mezzotint.protocol import GenerateManyRequest, Output, Sampling

MODELS = {
    "z-image": write_tiny_z_image,
    "flux2-klein": write_tiny_klein,
    "flux": write_tiny_flux,
    "qwen-image": write_tiny_qwen_image,
    "qwen-image-edit": write_tiny_edit,
    "krea2": write_tiny_krea2,
    "chroma": write_tiny_chroma,
    "sd3": write_tiny_sd3,
    "sana": write_tiny_sana,
    "sana-sprint": write_tiny_sprint,
}
PROMPTS = ("a red house by the sea at dusk", "snow")


LONG = ("qwen-image-edit", "chroma")


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=[pytest.mark.slow] * (each in LONG)) for each in MODELS]
)
def folder(request, tmp_path_factory):
    return MODELS[request.param](tmp_path_factory.mktemp("models") / request.param)


@pytest.mark.slow_after(1)
def test_images_of_prompts_of_unlike_lengths_are_made_together_as_alone(folder, tmp_path, every_device):
    engine = Engine(Catalog.standard())
    words = {"steps": 2, "guidance_scale": 3.0, "negative_prompt": NEGATIVE}
    requests = [
        request_of(folder, tmp_path, prompt=prompt, output=Output(path=f"{tmp_path}/{seed}.png"), seed=seed, **words)
        for seed, prompt in enumerate(PROMPTS)
    ]
    outcomes = engine.generate_many(GenerateManyRequest(requests=tuple(requests)), lambda _: None, lambda: False)
    assert [outcome.failure for outcome in outcomes.outcomes] == [None] * 2
    assert [outcome.result.together for outcome in outcomes.outcomes] == [2] * 2
    for request, outcome in zip(requests, outcomes.outcomes, strict=True):
        alone = engine.generate(
            replace(request, output=Output(path=f"{tmp_path}/alone/")), lambda _: None, lambda: False
        )
        assert np.abs(pixels(outcome.result) - pixels(alone)).max() <= 2


@pytest.mark.slow
def test_it_is_planned_without_weights(folder):
    plan = Engine(Catalog.standard()).plan(PlanRequest(models=(str(folder),), vram_bytes=8 * 2**30))
    assert {part.name for part in plan.components} >= {"text_encoder", "transformer", "vae"}
    assert all(phase.activation_bytes > 0 for phase in plan.phases)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_it_runs_in_8_bits(folder, tmp_path, every_device):
    request = request_of(folder, tmp_path, steps=2, quantization="int8", text_quantization="int8")
    result = Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)
    assert result.quantization == "int8"
    assert pixels(result).std() > 1


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_another_sampler_runs(folder, tmp_path, every_device):
    request = request_of(folder, tmp_path, steps=3, sampler="dpmpp_2m", schedule="karras")
    result = Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)
    assert (result.stages[0].sampler, result.stages[0].schedule) == ("dpmpp_2m", "karras") and pixels(result).std() > 1


@pytest.mark.slow_after(2)
def test_both_halves_of_the_guidance_in_one_pass_are_those_in_turn(folder):
    model = loaded(folder)
    family = family_of(model.sources.family)
    if not family.has_halves(model.sources, 3.0):
        return  # guidance is a number that the network is told
    words = PromptInputs(
        prompt=PROMPTS[0],
        negative_prompt=PROMPTS[1],
        width=64,
        height=64,
        guidance_scale=3.0,
        clip_skip=0,
        embeddings=(),
    )
    conditioning = replace(family.encode(model, words), sampling=Sampling(guidance_scale=3.0))
    sample = torch.randn(1, model.sources.latent_channels, 8, 8, generator=torch.Generator().manual_seed(0))
    seen = []
    for model.passes in ("batched", "sequential"):
        with torch.no_grad():
            seen.append(family.predict(model, sample, torch.tensor(700.0), conditioning))
    torch.testing.assert_close(*seen, rtol=1e-4, atol=1e-4)


def pixels(result) -> np.ndarray:
    return np.array(Image.open(result.images[0].path)).astype(int)
