"""Parts of images made anew: as the peer does it, and what lies outside stays to the last bit."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from inpaint_requests import HOLE, PROMPT, SEED, SIDE, again, engine, image, mask, outside, pixels, request_for, run
from PIL import Image
from recorded_again import read_metadata

from mezzotint import codec
from mezzotint.errors import ImageRefused, UsageError
from mezzotint.families.samplers import build_scheduler, resolve_scheduler
from mezzotint.protocol import (
    GenerateResult,
    Inpaint,
    ModelRef,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.stages.images.latent_mask import LatentMask

pytestmark = pytest.mark.usefixtures("every_device")

__all__ = ["engine", "image", "mask", "request_for"]  # fixtures


# ---- as the peer does it


def theirs(folder, sampler, init, hole, *, strength, steps=6):
    """diffusers' masked latents with an ordinary checkpoint, before anything is pasted."""
    from diffusers import StableDiffusionXLInpaintPipeline

    pipeline = StableDiffusionXLInpaintPipeline.from_pretrained(folder, torch_dtype=torch.float32)
    for name, part in pipeline.components.items():
        if isinstance(part, torch.nn.Module):
            setattr(pipeline, name, copy.deepcopy(part))  # weights of a mapped file lie unaligned, and round otherwise
    config = {**pipeline.scheduler.config, "_class_name": type(pipeline.scheduler).__name__}
    pipeline.scheduler = build_scheduler(
        resolve_scheduler(config, sampler=sampler, schedule=None, prediction_type=None, zero_terminal_snr=None)
    )
    return pipeline(
        PROMPT,
        image=Image.open(init.path),
        mask_image=Image.open(hole.path),
        # Of no use to a network of four channels, but encoding it would draw noise that the sampler then lacks.
        masked_image_latents=torch.zeros(1, 4, SIDE // 2, SIDE // 2),
        width=SIDE,
        height=SIDE,
        strength=strength,
        num_inference_steps=steps,
        guidance_scale=5.0,
        generator=torch.Generator("cpu").manual_seed(SEED),
    ).images[0]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("sampler", ["euler", "euler_a", "heun", "dpmpp_2m", "dpmpp_2m_sde", "ddim", "unipc", "lcm"])
def test_inside_of_the_mask_it_is_the_peers_bit_for_bit(
    engine, every_device, request_for, tiny_sdxl_folder, image, mask, sampler, tmp_path
):
    init, hole = image(), mask()
    wanted = np.array(theirs(tiny_sdxl_folder, sampler, init, hole, strength=0.7))
    inpaint = Inpaint(feather=0)  # theirs knows no edge
    request = request_for(
        tiny_sdxl_folder, init, hole, sampler=sampler, steps=6, strength=0.7, inpaint=inpaint, vae_tile=0
    )
    result = pixels(run(engine, request).images[0])
    kept = outside(result.shape, HOLE)
    assert wanted[~kept].std() > 1
    assert not np.array_equal(wanted[~kept], pixels(init.path)[~kept])
    # The autoencoder is given rows of pixels; torch's group norm turns them round for cards, and sums in another order.
    np.testing.assert_allclose(result[~kept].astype(int), wanted[~kept], rtol=0, atol=0 if every_device == "cpu" else 1)
    np.testing.assert_array_equal(result[kept], pixels(init.path)[kept])


# ---- what stays, stays


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("fill", ["original", "blur", "noise"])
@pytest.mark.parametrize("model", ["tiny_sdxl_folder", "tiny_pixart_folder"])
def test_pixels_outside_are_the_inputs_own_and_inside_is_new(engine, request_for, request, image, mask, model, fill):
    folder = request.getfixturevalue(model)
    boxes = [(3, 5, 31, 37), (40, 50, 43, 64)]  # along no latent's edge, and one thinner than the feather
    asked = request_for(folder, image(), mask(*boxes), inpaint=Inpaint(fill=fill))
    result = run(engine, asked)
    kept = outside((SIDE, SIDE), *boxes)
    before, after = pixels(asked.images[0].path), pixels(result.images[0])
    np.testing.assert_array_equal(after[kept], before[kept])
    for left, top, right, bottom in boxes:
        assert np.abs(after[top:bottom, left:right].astype(int) - before[top:bottom, left:right]).mean() > 5
    assert again(engine, result, asked) == result.images[0].sha256
    assert run(engine, replace(asked, seed=8)).images[0].sha256 != result.images[0].sha256


def test_the_result_and_the_record_say_what_was_used(engine, request_for, tiny_sdxl_folder, image, mask):
    result = run(engine, request_for(tiny_sdxl_folder, mask(), image(), steps=4))
    assert result.inpaint.asked == Inpaint() and result.inpaint.box == (0, 0, SIDE, SIDE)
    assert result.strength == 0.6
    assert [Path(used.path).name for used in result.images_used] == ["mask.png", "init.png"]
    assert codec.decode(GenerateResult, codec.encode(result)) == result
    recorded = read_metadata(Path(result.images[0].path)).request
    assert recorded.inpaint == Inpaint() and recorded.strength == 0.6
    assert [image.sha256 for image in recorded.images] == [used.sha256 for used in result.images_used]


def test_a_changed_mask_is_told(engine, request_for, tiny_sdxl_folder, image, mask):
    request = request_for(tiny_sdxl_folder, image(), mask())
    recorded = read_metadata(Path(run(engine, request).images[0].path)).request
    mask((0, 0, 8, 8))
    with pytest.raises(ImageRefused, match=r"the mask has changed .* again with --mask"):
        run(engine, replace(recorded, output=request.output))


@pytest.mark.slow
def test_each_image_of_a_count_is_the_one_made_alone(engine, request_for, tiny_sdxl_folder, image, mask):
    request = request_for(tiny_sdxl_folder, image(), mask(), inpaint=Inpaint(fill="noise"))
    three = run(engine, replace(request, count=3)).images
    assert len({image.sha256 for image in three}) == 3
    for image in three:
        assert run(engine, replace(request, seed=image.seed)).images[0].sha256 == image.sha256


# ---- the masked area alone


def test_the_masked_area_is_painted_at_full_size_and_goes_back(engine, request_for, tiny_sdxl_folder, image, mask):
    size, box = (203, 151), (150, 20, 181, 47)
    inpaint = Inpaint(area="masked", padding=5)
    request = request_for(tiny_sdxl_folder, image(size=size), mask(box, size=size), inpaint=inpaint)
    result = run(engine, request)
    after = pixels(result.images[0])
    assert after.shape == (151, 203, 3) and (result.images[0].width, result.images[0].height) == size
    assert result.inpaint.box == (145, 13, 186, 54) and (result.stages[0].width, result.stages[0].height) == (64, 64)
    kept = outside(after.shape, box)
    np.testing.assert_array_equal(after[kept], pixels(request.images[0].path)[kept])
    assert not np.array_equal(after, pixels(request.images[0].path))
    assert again(engine, result, request) == result.images[0].sha256


# ---- larger images


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("fill", ["original", "noise"])
def test_an_image_grows_by_any_number_of_pixels(engine, request_for, tiny_sdxl_folder, image, fill):
    inpaint = Inpaint(left=7, right=18, bottom=3, feather=4, fill=fill)
    request = request_for(tiny_sdxl_folder, image(), size=None, inpaint=inpaint)
    result = run(engine, request)
    after = pixels(result.images[0])
    assert (result.images[0].width, result.images[0].height) == (89, 67) == (after.shape[1], after.shape[0])
    assert (result.stages[0].width, result.stages[0].height) == (90, 68)
    assert result.strength == 1.0
    old = pixels(request.images[0].path)
    np.testing.assert_array_equal(after[: SIDE - 4, 7 + 4 : 7 + SIDE - 4], old[: SIDE - 4, 4 : SIDE - 4])
    assert after[:, 7 + SIDE + 4 :].std() > 1
    assert again(engine, result, request) == result.images[0].sha256


def test_new_parts_alone_are_painted_beside_a_large_image(engine, request_for, tiny_sdxl_folder, image):
    inpaint = Inpaint(area="masked", right=30, feather=4, padding=10)
    request = request_for(tiny_sdxl_folder, image(size=(301, 97)), inpaint=inpaint)
    result = run(engine, request)
    after = pixels(result.images[0])
    assert after.shape == (97, 331, 3)
    np.testing.assert_array_equal(after[:, : 301 - 4], pixels(request.images[0].path)[:, : 301 - 4])
    assert again(engine, result, request) == result.images[0].sha256


def test_a_size_other_than_the_grown_one_is_refused(engine, request_for, tiny_sdxl_folder, image):
    with pytest.raises(
        UsageError, match="size 64x64 was requested, but the outpainted image is generated at 96x64; leave"
    ):
        run(engine, request_for(tiny_sdxl_folder, image(), inpaint=Inpaint(right=32)))


# ---- cascades


@pytest.mark.slow
def test_base_and_refiner_both_keep_what_stays(
    engine, request_for, tiny_sdxl_folder, tiny_refiner_folder, image, mask, monkeypatch
):
    handed_over = []
    entering = LatentMask.entering

    def watched(self, schedule, latents):
        handed_over.append((latents, entering(self, schedule, latents)))
        return handed_over[-1][1]

    monkeypatch.setattr(LatentMask, "entering", watched)
    request = request_for(
        tiny_sdxl_folder,
        image(),
        mask(),
        steps=10,
        until=0.8,
        strength=0.9,
        stages=[Stage(model=ModelRef(id=str(tiny_refiner_folder)))],
        transitions=[Transition()],
        previews=True,
    )
    result = run(engine, request)
    kept = outside((SIDE, SIDE), HOLE)
    np.testing.assert_array_equal(pixels(result.images[0])[kept], pixels(request.images[0].path)[kept])
    assert len(result.stages) == 2 and result.stages[0].log_snr_end == result.stages[1].log_snr_start
    assert again(engine, result, request) == result.images[0].sha256
    # What the base hands over has the noise of the refiner's first level already: there is no step between them.
    torch.testing.assert_close(*handed_over[0], rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("space", ["latent", "pixel"])
def test_a_second_pass_keeps_what_stays_at_its_own_size(engine, request_for, tiny_sdxl_folder, image, mask, space):
    request = request_for(
        tiny_sdxl_folder,
        image(),
        mask(),
        stages=[Stage(sampling=Sampling(steps=4))],
        transitions=[Transition(scale=2.0, strength=0.5, space=space)],
    )
    result = run(engine, request)
    after = pixels(result.images[0])
    assert after.shape == (128, 128, 3)
    larger = np.array(Image.open(request.images[0].path).resize((128, 128), Image.Resampling.LANCZOS))
    kept = outside(after.shape, tuple(2 * side for side in HOLE))
    np.testing.assert_array_equal(after[kept], larger[kept])
    assert any("preserved parts are resized" in notice for notice in result.notices)
    assert again(engine, result, request) == result.images[0].sha256


@pytest.mark.slow
def test_a_second_pass_of_a_grown_image_grows_all_of_it(engine, request_for, tiny_sdxl_folder, image):
    request = request_for(
        tiny_sdxl_folder,
        image(),
        size=None,
        inpaint=Inpaint(right=31),
        stages=[Stage(sampling=Sampling(steps=4))],
        transitions=[Transition(scale=1.5, strength=0.5)],
    )
    result = run(engine, request)
    assert (result.images[0].width, result.images[0].height) == (round(95 * 1.5), 96)
    assert again(engine, result, request) == result.images[0].sha256
