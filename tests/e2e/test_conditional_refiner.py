"""A conditional refiner after another model, and as an enlarger of images (arXiv 2106.15282)."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from inpaint_requests import again, image, mask, run
from many_requests import apart, check_as_alone, results, run_many
from PIL import Image
from recorded_again import read_metadata
from tiny_pixart import write_tiny_pixart
from tiny_variant import write_changed_variant

from mezzotint.batch.job.settings import request_of
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled, UsageError
from mezzotint.families.pixart.family import PixArt
from mezzotint.images.embedded import embedded_texts
from mezzotint.images.encoding import RECORD_KEYWORD
from mezzotint.options import Options, options_of
from mezzotint.protocol import Output, Step
from mezzotint.stages import pipeline
from mezzotint.stages.models import model_cache

__all__ = ["image", "mask"]  # fixtures

KINDS = ["concat", "cross"]
OWN = 128  # pixels along a side of what the refiners are made for


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture(scope="module")
def refiners(tiny_pixart_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("refiners")
    made = {kind: write_changed_variant(tiny_pixart_folder, folder / kind, {"condition": kind}) for kind in KINDS}
    for each in made.values():
        (each / "mezzotint.json").write_text(json.dumps({"defaults": {"width": OWN, "height": OWN}}), encoding="utf-8")
    return {kind: str(each) for kind, each in made.items()}


@pytest.fixture
def job(tiny_pixart_folder, tmp_path, refiners):
    """Builds requests as the command line does."""

    def build(kind="concat", **options):
        said = {"model": str(tiny_pixart_folder), "refine_with": refiners[kind], "size": (64, 64), "steps": 3} | options
        usual = {"prompt": "a red house by the sea at dusk", "seed": 7, "refine_steps": 2, "attention": "sdpa"}
        usual |= {"dtype": "float32", "output": f"{tmp_path}/out/"}
        if said["refine_with"] is None:
            del usual["refine_steps"]
        return request_of(Options(**usual | said))

    return build


def sha(result):
    return result.images[0].sha256


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_image_is_generated_anew_at_twice_the_size(engine, job, kind):
    first = run(engine, job(kind))
    base, refined = first.stages
    assert (base.width, refined.width, refined.height, first.images[0].width) == (64, 128, 128, 128)
    assert (base.steps, refined.steps, len(refined.timesteps)) == (3, 2, 2)
    assert (base.log_snr_end, refined.log_snr_start) == (None, None)  # the whole schedule of each
    assert (base.condition_noise, refined.condition_noise) == (None, 0.1)
    assert first.transitions[0].refines
    assert sha(run(engine, job(kind))) == sha(first) == again(engine, first, job(kind))
    assert sha(run(engine, job(kind, seed=8))) != sha(first)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refined_matters_to_all_of_its_steps(engine, job, kind, tiny_pixart_folder, tmp_path):
    """Another base gives another image from the same noise: the refiner sees nothing of it but the condition."""
    other = tmp_path / "other"
    shutil.copytree(tiny_pixart_folder, other)
    scheduler = other / "scheduler" / "scheduler_config.json"
    scheduler.write_text(json.dumps(json.loads(scheduler.read_text("utf-8")) | {"beta_end": 0.03}), encoding="utf-8")
    assert sha(run(engine, job(kind))) != sha(run(engine, job(kind, model=str(other))))


@pytest.mark.slow
def test_the_noise_of_the_condition_is_recorded_and_replayed(engine, job):
    noisy = run(engine, job(condition_noise=0.4))
    assert [stage.condition_noise for stage in noisy.stages] == [None, 0.4]
    assert len({sha(run(engine, job(condition_noise=noise))) for noise in (0.0, 0.1)} | {sha(noisy)}) == 3
    assert again(engine, noisy, job()) == sha(noisy)
    recorded = read_metadata(Path(noisy.images[0].path)).request
    options = options_of(recorded)
    assert (options.condition_noise, options.refine_steps, options.steps) == (0.4, 2, 3)
    changed = request_of(Options(condition_noise=0.2, steps=4), recorded).cascade.stages
    assert [(stage.sampling.steps, stage.sampling.condition_noise) for stage in changed] == [(4, None), (2, 0.2)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_images_made_together_are_those_made_alone(engine, job, kind, tmp_path):
    prompts = ("a red house", "two green hills under a dark blue sky", "a boat")
    requests = [job(kind, prompt=prompt, seed=number) for number, prompt in enumerate(prompts)]
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [3] * 3
    check_as_alone(engine, requests, made, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_way_to_run_it_gives_the_same_image(engine, job, kind, monkeypatch):
    """With ample memory and the least, streamed, and with one guidance pass after the other.

    Products of odd sizes may differ in the last bit with the place of weights in memory.
    """
    plain, original, request = run(engine, job(kind)), model_cache._arrange, job(kind)
    request = replace(request, quantization="none", text_quantization="none")
    ample = run(engine, replace(request, vram_limit_bytes=512 * 2**20))
    tight = run(engine, replace(request, vram_limit_bytes=ample.plan.smallest_vram_bytes))
    for result, limit in ((ample, 512 * 2**20), (tight, ample.plan.smallest_vram_bytes)):
        assert apart(result.images[0], plain.images[0]) <= 1
        assert all(0 < phase.measured_bytes <= limit for phase in result.memory.phases)
        assert result.recoveries == ()

    def settle(residency, model, part):
        original(residency, model, replace(part, resident_blocks=0, slots=1))

    monkeypatch.setattr(model_cache, "_arrange", settle)
    streamed = run(Engine(Catalog.standard()), replace(request, vram_limit_bytes=512 * 2**20))
    assert apart(streamed.images[0], ample.images[0]) <= 1


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", KINDS)
def test_guidance_passes_one_after_the_other_and_image_by_image_see_their_own_condition(engine, job, kind, monkeypatch):
    requests = [job(kind, seed=number) for number in range(2)]
    expected, original = results(run_many(engine, requests)), pipeline.denoise

    def denoise(family, model, *arguments, **options):
        model.passes, model.at_once = "sequential", 1
        return original(family, model, *arguments, **options)

    monkeypatch.setattr(pipeline, "denoise", denoise)
    made = results(run_many(Engine(Catalog.standard()), requests))
    assert {result.guidance_passes for result in made} == {"sequential"}
    assert all(apart(one.images[0], other.images[0]) <= 2 for one, other in zip(made, expected, strict=True))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("quantization", ["int8", "int4"])
def test_quantized_it_is_nearly_the_same_image(engine, job, quantization):
    plain, quantized = run(engine, job()), run(engine, replace(job(), quantization=quantization))
    assert sha(plain) != sha(quantized)
    assert (quantized.quantization, apart(plain.images[0], quantized.images[0]) <= 16) == (quantization, True)


def test_without_guidance_it_has_one_pass(engine, job):
    assert run(engine, job(guidance=1.0)).images[0].width == 128


def test_after_a_base_and_its_refiner(engine, job, tiny_pixart_folder):
    made = run(engine, job(refiner=str(tiny_pixart_folder), refiner_at=0.5, steps=4))
    assert [stage.width for stage in made.stages] == [64, 64, 128]
    assert made.stages[0].log_snr_end == made.stages[1].log_snr_start
    assert again(engine, made, job()) == sha(made)
    changed = request_of(Options(refiner_at=0.6), read_metadata(Path(made.images[0].path)).request).cascade
    assert changed.stages[0].until == 0.6
    assert [transition.refines for transition in changed.transitions] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_beyond_its_own_size_it_works_in_tiles_which_is_told_recorded_and_repeated(engine, job, kind):
    request, events = job(kind, size=(128, 96)), []
    made = run(engine, request, events)
    assert [(stage.width, stage.height, stage.tile) for stage in made.stages] == [(128, 96, 0), (256, 192, OWN)]
    (told,) = (note for note in made.notices if "tiles" in note)
    assert "is made for images of 128x128: 256x192 is refined in 6 overlapping tiles of 128x128" in told
    steps = [(event.stage, event.step, event.steps) for event in events if isinstance(event, Step)]
    assert steps == [(0, 1, 3), (0, 2, 3), (0, 3, 3), (1, 1, 2), (1, 2, 2)]
    assert sha(made) == again(engine, made, request)
    record = json.loads(embedded_texts(Image.open(made.images[0].path)).chunks[RECORD_KEYWORD])
    assert [stage["tile"] for stage in record["stages"]] == [0, OWN]


@pytest.mark.slow
def test_in_tiles_it_needs_the_memory_that_is_planned_for_one(job):
    def limited(**options):
        request = replace(job(**options), quantization="none", text_quantization="none", vram_limit_bytes=512 * 2**20)
        return run(Engine(Catalog.standard()), request)

    small, tiled = limited(size=(64, 64)), limited(size=(128, 128))
    phases = [result.memory.phases[2] for result in (small, tiled)]
    assert [phase.name for phase in phases] == ["stage 2"] * 2
    assert phases[1].predicted_bytes == pytest.approx(phases[0].predicted_bytes, abs=1)
    assert phases[1].measured_bytes <= phases[1].predicted_bytes
    assert "stage 2 has 9 passes per step, of tiles of 128x128, one at a time" in tiled.plan.reasons


def test_a_job_stops_between_two_tiles(engine, job, monkeypatch):
    request, events, passes = job(size=(128, 96)), [], []
    original = PixArt.predict
    monkeypatch.setattr(PixArt, "predict", lambda *given: (passes.append(1), original(*given))[1])
    stop = 3 + 6 + 2  # of the base's steps, the tiles of one step, and of the next
    with pytest.raises(Cancelled):
        engine.generate(request, events.append, lambda: len(passes) == stop)
    assert (len(passes), sum(isinstance(event, Step) for event in events)) == (stop, 4)


def test_an_inpainted_image_is_refined_with_its_kept_parts(engine, job, image, mask):
    made = run(engine, job(init=image().path, mask=mask().path))
    assert made.stages[1].width == 128


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_existing_image_is_enlarged(engine, job, refiners, image, kind):
    one, other = image("one.png", size=(96, 64), seed=1), image("other.png", size=(96, 64), seed=2)

    def request(init, **options):
        return job(**{"model": refiners[kind], "refine_with": None, "size": None, "init": init.path} | options)

    made = run(engine, request(one))
    (stage,) = made.stages
    assert (stage.width, stage.height, made.strength, stage.condition_noise) == (192, 128, 1.0, 0.1)
    assert (len(stage.timesteps), stage.log_snr_start) == (3, None)
    assert sha(made) == again(engine, made, request(one)) != sha(run(engine, request(other)))
    assert len(run(engine, request(one, strength=0.7)).stages[0].timesteps) == 2
    assert run(engine, request(one, size=(128, 128))).images[0].height == 128


def test_what_cannot_be_refined_is_refused(engine, job, refiners, tiny_pixart_folder, image, mask, tmp_path):
    base, refiner = str(tiny_pixart_folder), refiners["concat"]
    unlike = str(write_tiny_pixart(tmp_path / "alpha", sigma=False))
    alone = {"model": refiner, "refine_with": None}
    for options, said in (
        (alone, "concat is a conditional refiner: .* give it an image with --init, or .* --refine-with"),
        ({**alone, "init": image().path, "mask": mask().path}, "which enlarges whole images: leave the mask"),
        ({"refine_with": base}, r"is no conditional refiner but an ordinary model \(pixart sigma\): .* --refiner"),
        ({"refine_with": None, "refiner": refiner}, "concat is a conditional refiner: .* use it with --refine-with"),
        ({"refine_with": None, "condition_noise": 0.2}, "is none: leave --condition-noise out"),
        (
            {"model": unlike},
            r"concat refines latents of another kind .* scaling 0\.13025 instead of",
        ),
    ):
        with pytest.raises(UsageError, match=said):
            run(engine, job(**options))


def test_a_cascade_in_data_has_latents_and_a_strength(engine, job):
    request = job()
    for changes in ({"space": "pixel"}, {"strength": None}):
        transition = replace(request.cascade.transitions[0], **changes)
        stages = (replace(request.cascade.stages[0], until=0.5), request.cascade.stages[1])
        cascade = replace(request.cascade, stages=stages, transitions=(transition,))
        with pytest.raises(UsageError, match="must be in latent space with a strength, usually 1"):
            run(engine, replace(request, cascade=cascade, output=Output()))


def test_less_strength_begins_with_the_enlarged_latents(engine, job):
    request = job(refine_steps=4)
    cascade = replace(request.cascade, transitions=(replace(request.cascade.transitions[0], strength=0.5),))
    assert len(run(engine, replace(request, cascade=cascade)).stages[1].timesteps) == 2
