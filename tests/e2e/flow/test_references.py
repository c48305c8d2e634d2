"""Reference images, by the engine: bit for bit what the pipelines of diffusers make of them."""

from dataclasses import replace

import numpy as np
import pytest
from card_jobs import pixels, run
from fake_card.install import fake_card
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, request_of, same
from PIL import Image
from recorded_again import read_metadata
from tiny_flux1 import write_tiny_flux
from tiny_flux2 import write_tiny_klein

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import ImageRefused, UsageError
from mezzotint.families.flux1 import family as flux1
from mezzotint.families.flux2.family import Flux2Klein
from mezzotint.protocol import GenerateManyRequest, ModelDefaults, Output

GIB = 2**30
STEPS = 3


@pytest.fixture
def images(tmp_path):
    """Three files of unlike sizes, and the images in them."""
    made = []
    for seed, size in enumerate([(64, 64), (70, 100), (96, 64)]):
        noise = np.random.default_rng(seed).integers(0, 255, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
        path = tmp_path / f"{seed}.png"
        Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC).save(path)
        made.append((path, Image.open(path)))
    return made


@pytest.fixture(scope="module")
def klein(tmp_path_factory):
    return write_tiny_klein(tmp_path_factory.mktemp("klein") / "model", distilled=False)


@pytest.fixture(scope="module")
def kontext(tmp_path_factory):
    return write_tiny_flux(tmp_path_factory.mktemp("kontext") / "model", variant="kontext")


@pytest.fixture
def small_sizes(monkeypatch):
    """Kontext shows itself images of about a thousand pixels, and not of a million."""
    from diffusers.pipelines.flux import pipeline_flux_kontext

    sizes = [(64, 64), (48, 80), (80, 48)]
    monkeypatch.setattr(flux1, "_KONTEXT_SIZES", sizes)
    monkeypatch.setattr(pipeline_flux_kontext, "PREFERRED_KONTEXT_RESOLUTIONS", sizes)


@pytest.fixture
def in_turn(monkeypatch):
    """Prompts and negative ones one after the other, as in Klein's pipeline, for the same last bits."""
    monkeypatch.setattr(Flux2Klein, "spec", replace(Flux2Klein.spec, halves=("sequential",)))


def by_klein(folder, images, guidance=4.0, width=SIDE, height=SIDE):
    theirs = pipeline("Flux2KleinPipeline", folder)
    return theirs(
        image=images,
        prompt=PROMPT,
        negative_prompt_embeds=theirs.encode_prompt(NEGATIVE)[0],
        height=height,
        width=width,
        num_inference_steps=STEPS,
        guidance_scale=guidance,
        generator=generator(),
    ).images[0]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("guidance", [1.0, 4.0])
@pytest.mark.parametrize("shown", [(0,), (1, 0, 2)])
def test_klein_is_shown_one_image_or_several(klein, images, tmp_path, in_turn, shown, guidance):
    paths, references = zip(*(images[each] for each in shown), strict=True)
    asked = {"steps": STEPS, "guidance_scale": guidance, "negative_prompt": NEGATIVE}
    mine = ours(klein, tmp_path, references=paths, **asked)
    same(by_klein(klein, list(references), guidance), mine)
    assert not np.array_equal(mine, ours(klein, tmp_path, **asked))
    if len(shown) > 1:
        assert not np.array_equal(mine, ours(klein, tmp_path, references=paths[::-1], **asked))


def test_kontext_is_shown_an_image(kontext, images, tmp_path, small_sizes):
    path, reference = images[2]
    expected = pipeline("FluxKontextPipeline", kontext)(
        image=reference,
        prompt=PROMPT,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=2.5,
        generator=generator(),
        max_area=SIDE * SIDE,
    )
    mine = ours(kontext, tmp_path, references=[path], steps=STEPS)
    same(expected.images[0], mine)
    assert not np.array_equal(mine, ours(kontext, tmp_path, steps=STEPS))


def test_an_undistilled_kontext_is_shown_an_image_in_both_passes(images, tmp_path, small_sizes, monkeypatch):
    monkeypatch.setattr(flux1.Flux1, "spec", replace(flux1.Flux1.spec, halves=("sequential",)))  # as its pipeline
    folder = write_tiny_flux(tmp_path / "model", variant="edit")
    path, reference = images[2]
    expected = pipeline("FluxKontextPipeline", folder)(
        image=reference,
        prompt=PROMPT,
        negative_prompt=NEGATIVE,
        true_cfg_scale=4.0,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        generator=generator(),
        max_area=SIDE * SIDE,
    )
    asked = {"steps": STEPS, "guidance_scale": 4.0, "negative_prompt": NEGATIVE}
    same(expected.images[0], ours(folder, tmp_path, references=[path], **asked))


def test_kontext_without_an_image(kontext, tmp_path):
    expected = pipeline("FluxKontextPipeline", kontext)(
        prompt=PROMPT,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=2.5,
        generator=generator(),
        max_area=SIDE * SIDE,
    )
    same(expected.images[0], ours(kontext, tmp_path, steps=STEPS))


def test_the_size_follows_the_first_reference(klein, images, tmp_path, monkeypatch, in_turn):
    small = ModelDefaults(width=128, height=128, steps=STEPS, guidance_scale=4.0)
    variants = {**Flux2Klein.spec.variants, "base": small}
    monkeypatch.setattr(Flux2Klein, "spec", replace(Flux2Klein.spec, variants=variants))
    (path, reference), other = images[1], images[0][0]
    mine = ours(klein, tmp_path, references=[path, other], side=None, negative_prompt=NEGATIVE)
    assert mine.shape == (160, 112, 3)  # as large as 128 x 128, in the shape of 70 x 100, in multiples of 16
    same(by_klein(klein, [reference, images[0][1]], width=112, height=160), mine)


@pytest.mark.slow
def test_prompts_are_denoised_together_where_references_are_of_one_size(klein, images, tmp_path):
    engine = Engine(Catalog.standard())
    shown = [(images[0][0],), (images[0][0],), (images[1][0],), (images[1][0], images[2][0])]
    requests = [
        request_of(klein, tmp_path, references=paths, steps=2, prompt=f"{PROMPT} {number}")
        for number, paths in enumerate(shown)
    ]
    requests = [replace(one, output=Output(path=f"{tmp_path}/out/{n}.png")) for n, one in enumerate(requests)]
    outcomes = engine.generate_many(GenerateManyRequest(requests=tuple(requests)), lambda _: None, lambda: False)
    assert [outcome.failure for outcome in outcomes.outcomes] == [None] * 4
    assert [outcome.result.together for outcome in outcomes.outcomes] == [2, 2, 1, 1]
    for number, one in enumerate(requests):
        alone = replace(one, output=Output(path=f"{tmp_path}/alone.png", overwrite=True))
        engine.generate(alone)
        files = (f"{tmp_path}/out/{number}.png", alone.output.path)
        made, expected = (np.array(Image.open(path)).astype(int) for path in files)
        assert np.abs(made - expected).max() <= 2


def test_it_is_recorded_and_made_again(klein, images, tmp_path):
    path = images[0][0]
    first = ours(klein, tmp_path, references=[path, images[1][0]], steps=2)
    again = read_metadata(tmp_path / "ours.png").request
    paths = [str(path), str(images[1][0])]
    assert [(one.role, one.path) for one in again.images] == [("reference", each) for each in paths]
    assert all(one.sha256 for one in again.images)
    result = Engine(Catalog.standard()).generate(replace(again, output=Output(path=f"{tmp_path}/again.png")))
    assert np.array_equal(np.array(Image.open(result.images[0].path)), first)
    images[2][1].save(path)
    with pytest.raises(ImageRefused, match=r"0\.png: the reference image has changed .* with --reference"):
        Engine(Catalog.standard()).generate(replace(again, output=Output(path=f"{tmp_path}/again.png")))


@pytest.mark.slow
def test_streamed_it_is_the_same_image_within_the_plan(klein, images, tmp_path):
    asked = {"references": [path for path, _ in images], "steps": 2, "guidance_scale": 1.0, "quantization": "none"}
    job = request_of(klein, tmp_path, device="cuda:0", **asked)
    with fake_card(2 * GIB):
        whole = run(job)
        streamed = run(replace(job, vram_limit_bytes=whole.plan.smallest_vram_bytes))
    assert pixels(streamed) == pixels(whole)
    assert any(part.resident_blocks < part.blocks for part in streamed.plan.components if part.blocks)
    for phase in (*whole.memory.phases, *streamed.memory.phases):
        assert phase.measured_bytes <= 1.1 * phase.predicted_bytes, phase


def test_more_than_a_model_takes(klein, kontext, images, tmp_path):
    path = images[0][0]
    with pytest.raises(UsageError, match=r"2 reference images were given, and .* takes 1 at most: leave 1 out"):
        ours(kontext, tmp_path, references=[path] * 2)
    with pytest.raises(UsageError, match=r"5 reference images were given, and .* takes 4 at most: leave 1 out"):
        ours(klein, tmp_path, references=[path] * 5)


def test_a_model_that_takes_none(images, tmp_path):
    dev = write_tiny_flux(tmp_path / "dev")
    message = r"was given, and .* takes none: leave --reference out, or use FLUX.2 Klein or .*FLUX.1 \(kontext, edit\)"
    with pytest.raises(UsageError, match=message):
        ours(dev, tmp_path, references=[images[0][0]])


@pytest.mark.parametrize("data", [b"", b"no image", None])
def test_a_file_that_cannot_be_read(klein, images, tmp_path, data):
    path = images[0][0]
    path.write_bytes(path.read_bytes()[:-60] if data is None else data)
    with pytest.raises(ImageRefused, match=r"0\.png"):
        ours(klein, tmp_path, references=[path])
    assert not (tmp_path / "ours.png").exists()
