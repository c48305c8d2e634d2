"""Conditional refiners: made from starter-dit's weights, resumed, and used by the engine."""

import json
import shutil
from dataclasses import replace

import pytest
import torch

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.paths import assets_folder
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage, Transition
from mezzotint_starter import recipe, sheets
from mezzotint_starter.denoising import PromptEncoder
from mezzotint_starter.plan import miniature
from mezzotint_starter.variants import refine
from mezzotint_starter.variants.recipe import TRUNK, Student, base_folder, base_pipeline, weights_of
from mezzotint_starter.variants.refine import LESSON, REFINERS, Pairs, condition, refining_loss, training_pairs


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
    monkeypatch.setattr(refine, "STEPS", 2)
    monkeypatch.setattr(refine, "BATCH", 2)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def plan(tmp_path):
    return replace(miniature(tmp_path / "work", tmp_path / "out", steps=1), large_images=2)


@pytest.fixture
def base(plan):
    return base_pipeline(plan)


@pytest.mark.slow
def test_it_begins_as_the_trunk_and_learns_from_the_reduced_image(base, plan):
    """Before training, a network that ignores the smaller image gives what the trunk would."""
    trunk = weights_of(base_folder(plan, TRUNK))
    parts = Student.on(trunk, base, REFINERS["refine-2x"], LESSON, seed=0).parts
    assert (parts.denoiser.config.sample_size, parts.denoiser.pos_embed.interpolation_scale) == (32, 2)
    assert torch.equal(parts.denoiser.pos_embed.proj.weight[:, :4], trunk["pos_embed.proj.weight"])
    pairs = training_pairs(plan, base)
    assert (tuple(pairs.large.shape), tuple(pairs.small.shape)) == ((2, 4, 32, 32), (2, 4, 16, 16))
    encoder = PromptEncoder(tokenizer=parts.tokenizer, encoder=parts.encoder, device="cpu")

    def loss(pairs):
        return refining_loss(parts.denoiser, encoder, pairs, seed=0, phase="refine-2x", step=0, shard=slice(None))

    ignored = Pairs(large=pairs.large, small=pairs.small + 1)
    assert loss(pairs).item() == loss(ignored).item()
    loss(pairs).backward()
    assert parts.denoiser.pos_embed.proj.weight.grad[:, 4:].any()
    assert parts.denoiser.adaln_single.emb.noise_embedder.linear_2.weight.grad.any()


def test_the_condition_has_as_much_noise_as_the_network_is_told():
    small, generator = torch.full((2, 4, 6, 6), 3.0), torch.Generator().manual_seed(0)
    found = condition(small, torch.tensor([0.0, 0.25]), generator)
    noise = torch.randn(small.shape, generator=torch.Generator().manual_seed(0))
    assert found["low_resolution_noise"].tolist() == [0.0, 250.0]
    torch.testing.assert_close(found["low_resolution"], torch.stack([small[0], 0.75 * small[1] + 0.25 * noise[1]]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["refine-2x-cross", "refine-2x"])
def test_it_is_made_resumed_and_used(plan, tmp_path, name):
    for model in ("dit", TRUNK):
        shutil.copytree(assets_folder() / "starter" / model, plan.out / model)
    folder = recipe.run(plan, name) / name
    first = weights_of(folder)
    recipe.run(plan, name)
    again = weights_of(folder)
    assert all(torch.equal(first[key], value) for key, value in again.items())
    assert (tmp_path / "work" / "sheets" / f"{name}.png").is_file()
    told = json.loads((folder / "mezzotint.json").read_text("utf-8"))
    assert (told["name"], told["defaults"]["width"]) == (f"starter-{name}", 256)
    stages = (
        Stage(model=ModelRef(id="starter-dit"), sampling=Sampling(steps=1)),
        Stage(model=ModelRef(id=str(folder)), sampling=Sampling(steps=1)),
    )
    cascade = Cascade(stages=stages, transitions=(Transition(scale=2.0, strength=1.0, refines=True),))
    request = GenerateRequest(prompt="a red house", cascade=cascade, seed=7, output=Output(path=f"{tmp_path}/image/"))
    result = Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)
    assert (result.images[0].width, result.stages[1].condition_noise) == (256, 0.1)
