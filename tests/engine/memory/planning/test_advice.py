"""What would make a job faster is told only if it does, with what it costs."""

from dataclasses import replace

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.memory_protocol import FastModel
from mezzotint.protocol import PlanRequest
from mezzotint.stages.planning import planned
from mezzotint.values.speed import AUTO_CACHE

GB = 2**30


def plan_of(model="sdxl", *, vram=8, **more):
    request = PlanRequest(models=(model,), vram_bytes=vram * GB, ram_bytes=32 * GB, advise=True, **more)
    return planned(request, Catalog.standard)


def kinds(plan):
    return {one.kind: one for one in plan.advice}


def test_nothing_is_advised_unasked():
    request = PlanRequest(models=("sdxl",), vram_bytes=8 * GB, ram_bytes=32 * GB)
    assert planned(request, Catalog.standard).advice == ()
    assert replace(plan_of(), advice=()) == planned(request, Catalog.standard)


@pytest.mark.parametrize(("model", "vram"), [("sdxl", 8), ("flux", 8), ("sdxl", 24)])
def test_following_it_takes_the_time_that_it_says(model, vram):
    before = plan_of(model, vram=vram)
    weights = kinds(before)["weights"]
    after = plan_of(model, vram=vram, quantization=weights.quantization)
    assert after.seconds == weights.seconds <= 0.9 * before.seconds
    assert weights.loss is None  # of this model none was measured
    assert "weights" not in kinds(after) or kinds(after)["weights"].seconds <= 0.9 * after.seconds


@pytest.mark.parametrize(("model", "loss"), [("starter-xl", 0.023), ("starter-dit", 0.006), ("sdxl", None)])
def test_a_loss_is_only_that_of_the_model_on_which_it_was_measured(model, loss):
    assert kinds(plan_of(model, steps=30))["cache"].loss == loss


def test_more_loss_only_for_more_time():
    for model in ("sdxl", "flux", "qwen-image"):
        seconds = [one.seconds for one in plan_of(model).advice if one.kind == "weights"]
        assert len(seconds) < 2 or seconds[0] <= 0.9 * seconds[1]


def test_large_images_are_composed_small():
    large = kinds(plan_of(vram=24, width=2048, height=2048))
    assert (large["hires"].size, large["hires"].hires) == ((1024, 1024), 2.0)
    assert {"shrink", "tokens"} <= set(large)
    for name, value in (("deep_shrink", large["shrink"].deep_shrink), ("tokens", large["tokens"].tokens)):
        again = plan_of(vram=24, width=2048, height=2048, **{name: value})
        assert not {"shrink" if name == "deep_shrink" else "tokens"} & set(kinds(again))
    assert not {"hires", "shrink", "tokens"} & set(kinds(plan_of(vram=24)))
    assert "hires" not in kinds(plan_of(vram=24, width=2048, height=2048, denoise_tile=1024))
    assert not {"shrink", "tokens"} & set(kinds(plan_of("flux", vram=24, width=2048, height=2048)))


def test_the_step_cache_saves_what_the_image_lets_it():
    cache = plan_of().advice[-1]
    assert (cache.kind, cache.step_cache, cache.seconds) == ("cache", AUTO_CACHE, None)
    assert "cache" not in kinds(plan_of(steps=12))
    assert "cache" not in kinds(plan_of(step_cache=0.1))


def test_models_of_fewer_steps_and_without_guidance():
    fast = FastModel(id="turbo", steps=4, guided=False)
    first = plan_of(fast_models=(fast,)).advice[0]
    assert (first.kind, first.model, first.steps) == ("model", "turbo", 4)
    assert first.seconds < 0.2 * plan_of().seconds
    refined = PlanRequest(
        models=("sdxl", "sdxl-refiner"), vram_bytes=8 * GB, ram_bytes=32 * GB, advise=True, fast_models=(fast,)
    )
    assert "model" not in kinds(planned(refined, Catalog.standard))


def test_nothing_is_advised_that_is_set():
    assert "text" not in kinds(plan_of("flux", text_quantization="int8"))


def test_nothing_is_advised_on_what_does_not_fit():
    assert not plan_of("qwen-image", vram=1).fits
    assert plan_of("qwen-image", vram=1).advice == ()
