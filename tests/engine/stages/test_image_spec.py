"""Variations: start noise between that of two seeds."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from many_requests import alone, images, run_many
from recorded_again import read_metadata

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, ModelRef, Output, Sampling, Stage
from mezzotint.stages.image_spec import seeded, slerp


def test_a_blend_of_noises_has_their_variance_and_its_ends_are_they_themselves():
    low, high = torch.randn(2, 1, 4, 32, 32, generator=torch.Generator().manual_seed(3))
    assert torch.equal(slerp(low, high, 0), low) and torch.equal(slerp(low, high, 1), high)
    assert float(slerp(low, high, 0.5).std()) == pytest.approx(1, abs=0.05)
    assert torch.equal(slerp(low, low, 0.3), low)


def test_all_bits_of_a_seed_count():
    seeds = [7, 7 + 2**32, 7 + 2**33, 2**63 - 1, 2**32, 0]
    noises = [torch.randn(4, generator=seeded(seed)) for seed in seeds]
    assert len({tuple(noise.tolist()) for noise in noises}) == len(seeds)
    assert torch.equal(torch.randn(4, generator=seeded(2**40)), torch.randn(4, generator=seeded(2**40)))


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_a_seed_that_torch_takes_whole_is_torchs_own(seed):
    own = torch.Generator().manual_seed(seed)
    assert torch.equal(torch.randn(4, generator=seeded(seed)), torch.randn(4, generator=own))


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def request_for(tmp_path):
    def build(folder, name, seed=7, **sampling):
        how = Sampling(**{"steps": 2, "sampler": "euler"} | sampling)
        stage = Stage(model=ModelRef(id=str(folder)), width=64, height=64, sampling=how)
        output = Output(path=f"{tmp_path}/{name}.png")
        return GenerateRequest(prompt="a house", seed=seed, cascade=Cascade(stages=(stage,)), output=output)

    return build


def test_a_variation_is_between_two_seeds_and_comes_back_with_its_metadata(engine, request_for, tiny_pixart_folder):
    def made(name, **fields):
        return alone(engine, request_for(tiny_pixart_folder, name, **fields))

    plain, other = made("plain"), made("other", seed=8)
    varied = made("varied", variation_seed=8, variation_strength=0.2)
    assert made("none", variation_seed=8, variation_strength=0.0).sha256 == plain.sha256
    assert made("all", variation_seed=8, variation_strength=1.0).sha256 == other.sha256
    assert varied.sha256 not in (plain.sha256, other.sha256) and varied.seed == 7
    found = read_metadata(Path(varied.path))
    assert (found.variation_seed, found.variation_strength) == (8, 0.2)
    assert alone(engine, replace(found.request, output=Output(path=f"{varied.path}.2.png"))).sha256 == varied.sha256


def test_variations_are_made_together_each_with_its_own_seed(engine, request_for, tiny_sdxl_folder):
    requests = [
        request_for(tiny_sdxl_folder, f"{seed}", variation_seed=seed, variation_strength=0.2) for seed in (8, 9)
    ]
    outcomes = run_many(engine, requests)
    assert [outcome.result.together for outcome in outcomes] == [2, 2]
    found = [read_metadata(Path(image.path)).request for image in images(outcomes)]
    assert [one.cascade.stages[0].sampling.variation_seed for one in found] == [8, 9]
    assert len({image.sha256 for image in images(outcomes)}) == 2


@pytest.mark.parametrize("masked", [False, True])
def test_the_noise_of_an_init_image_is_varied_too(engine, request_for, tiny_pixart_folder, tmp_path, masked):
    start = alone(engine, request_for(tiny_pixart_folder, "start"))
    inputs = [ImageInput(path=start.path), *([ImageInput(path=start.path, role="mask")] if masked else [])]

    def made(name, **fields):
        request = request_for(tiny_pixart_folder, name, **fields)
        return alone(engine, replace(request, images=tuple(inputs), strength=0.8)).sha256

    assert made("a") == made("b", variation_strength=0.0) != made("c", variation_strength=0.5)
