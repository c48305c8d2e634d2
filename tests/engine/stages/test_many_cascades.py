"""Several requests of more than one stage at once: they go through each stage together."""

from dataclasses import replace
from pathlib import Path

import pytest
from inpaint_requests import SIDE, image, mask, request_for, save_mask, save_noise
from many_requests import alone, apart, check_as_alone, results, run_many

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import MezzotintError
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.images.metadata import read_metadata
from mezzotint.protocol import Encoding, ModelRef, Sampling, Stage, Step, Transition
from mezzotint.stages import group, pipeline

__all__ = ["image", "mask", "request_for"]  # fixtures

SECOND_PASS = {"stages": [Stage(sampling=Sampling(steps=4))], "transitions": [Transition(scale=1.5, strength=0.5)]}


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def refined(tiny_refiner_folder):
    """A refiner that goes on from 0.6."""
    refiner = Stage(model=ModelRef(id=str(tiny_refiner_folder)))
    return {"steps": 4, "until": 0.6, "stages": [refiner], "transitions": [Transition()]}


@pytest.fixture
def requests_for(request_for, tmp_path):
    """Builds requests with prompts and seeds of their own, and with images and masks of their own if asked."""

    def build(model, count=3, masked=False, **fields):
        for number in range(count):
            inputs = [save_noise(tmp_path, f"{number}.png", seed=number)] if masked else []
            inputs += [save_mask(tmp_path, (number, 8, 48, 40), name=f"mask-{number}.png")] if masked else []
            request = request_for(model, *inputs, **{"steps": 2} | fields)
            yield replace(request, prompt=f"a house and {number} trees", seed=number)

    return lambda *words, **fields: list(build(*words, **fields))


@pytest.mark.slow
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sampler", ["euler_a", "dpmpp_2m"])
def test_base_and_refiner_give_the_images_made_alone(
    engine, requests_for, refined, tiny_sdxl_folder, tmp_path, sampler, masked
):
    strength = 0.9 if masked else None
    requests = requests_for(tiny_sdxl_folder, sampler=sampler, masked=masked, strength=strength, **refined)
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [3] * 3
    for request, result in zip(requests, made, strict=True):
        assert len(result.stages) == len(result.timings.denoise) == 2 and min(result.timings.denoise) > 0
        assert [stage.prompt for stage in result.stages] == [request.prompt] * 2
        assert result.stages[0].log_snr_end == result.stages[1].log_snr_start
        assert len(read_metadata(Path(result.images[0].path)).request.cascade.stages) == 2
    check_as_alone(engine, requests, made, tmp_path)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("space", ["pixel", "latent"])
def test_a_second_pass_gives_the_images_made_alone(engine, requests_for, tiny_sdxl_folder, tmp_path, space, masked):
    transitions = [replace(SECOND_PASS["transitions"][0], space=space)]
    fields = {**SECOND_PASS, "transitions": transitions}
    requests = requests_for(tiny_sdxl_folder, count=2, masked=masked, **fields)
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [2, 2]
    assert {(result.images[0].width, result.images[0].height) for result in made} == {(96, 96)}
    check_as_alone(engine, requests, made, tmp_path)


def test_between_stages_the_autoencoder_has_one_image_at_a_time(engine, requests_for, tiny_sdxl_folder, monkeypatch):
    seen = []
    decode, encode = pipeline.to_image, pipeline.to_latents
    monkeypatch.setattr(
        pipeline, "to_image", lambda model, latents: seen.append(len(latents)) or decode(model, latents)
    )
    monkeypatch.setattr(
        pipeline, "to_latents", lambda *words, **more: seen.append(len(made := encode(*words, **more))) or made
    )
    fields = {**SECOND_PASS, "transitions": [Transition(scale=1.5, strength=0.5, space="pixel")]}
    results(run_many(engine, requests_for(tiny_sdxl_folder, count=2, **fields)))
    assert seen == [1] * 6


def test_steps_of_each_stage_are_told_for_each(engine, requests_for, tiny_sdxl_folder):
    events = []
    results(run_many(engine, requests_for(tiny_sdxl_folder, count=2, **SECOND_PASS), events))
    steps = [(event.event.stage, event.event.step, event.request) for event in events if isinstance(event.event, Step)]
    assert steps == [(stage, step, place) for stage in (0, 1) for step in (1, 2) for place in (0, 1)]
    encoded = [(event.event.stage, event.request) for event in events if isinstance(event.event, Encoding)]
    assert encoded == [(0, 0), (0, 1), (1, 0), (1, 1)]  # a stage's models and LoRAs serve all before the next one's


@pytest.mark.slow
def test_prompts_of_a_later_stage_may_differ(engine, requests_for, refined, tiny_sdxl_folder, tmp_path):
    requests = []
    for number, request in enumerate(requests_for(tiny_sdxl_folder, **refined)):
        words = "a lamp" if number < 2 else ", ".join(["a lamp by the sea"] * 30)  # more than one chunk of CLIP's
        base, refiner = request.cascade.stages
        cascade = replace(request.cascade, stages=(base, replace(refiner, prompt=words)))
        requests.append(replace(request, cascade=cascade))
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [2, 2, 1]
    check_as_alone(engine, requests[1:2], made[1:2], tmp_path)


def test_the_largest_stage_decides_how_many_are_denoised_together(engine, requests_for, tiny_sdxl_folder, monkeypatch):
    factor = 2  # of the tiny model's autoencoder
    monkeypatch.setattr(group, "_POSITIONS", 2 * (SIDE * 3 // 2 // factor) ** 2)
    requests = requests_for(tiny_sdxl_folder, **SECOND_PASS)
    assert [result.together for result in results(run_many(engine, requests))] == [2, 2, 1]


def test_one_that_fails_in_the_second_stage_fails_by_itself(
    engine, requests_for, tiny_sdxl_folder, tmp_path, monkeypatch
):
    requests = requests_for(tiny_sdxl_folder, **SECOND_PASS)
    apply_transition, seeds = pipeline.apply_transition, []

    def fails(transition, done, before, after, generator, through_pixels):
        seeds.append(generator.initial_seed())
        if seeds[-1] == 1:
            raise MezzotintError("not a number")
        return apply_transition(transition, done, before, after, generator, through_pixels)

    monkeypatch.setattr(pipeline, "apply_transition", fails)
    outcomes = run_many(engine, requests)
    assert [outcome.failure is None for outcome in outcomes] == [True, False, True]
    assert seeds == [0, 1, 0, 1, 2]
    monkeypatch.undo()
    check_as_alone(engine, requests[::2], results(outcomes[::2]), tmp_path)


@pytest.mark.slow
def test_short_of_memory_in_one_stage_that_one_is_split(engine, requests_for, tiny_sdxl_folder, monkeypatch):
    predict, rows = Sdxl.predict, []

    def short(self, model, sample, *words):
        images = min(len(sample), model.at_once or len(sample))
        if sample.shape[-1] > SIDE // 2:
            rows.append(images)
            if images > 2:
                raise RuntimeError("CUDA out of memory. Tried to allocate 2 GB")
        return predict(self, model, sample, *words)

    monkeypatch.setattr(Sdxl, "predict", short)
    requests = requests_for(tiny_sdxl_folder, **SECOND_PASS)
    made = results(run_many(engine, requests))
    assert rows == [3, 3, 2, 2]
    assert [result.together for result in made] == [2] * 3
    assert "passes of 2" in made[0].recoveries[-1]
    monkeypatch.undo()
    for request, result in zip(requests, made, strict=True):
        assert apart(result.images[0], alone(engine, request)) <= 2
