"""What the U-Nets are taught is what the engine asks them."""

import math

import pytest
import torch

from mezzotint_starter.xl.clip_encoder_training import ClipPair
from mezzotint_starter.xl.clip_networks import build_clip_encoders, build_unet
from mezzotint_starter.xl.clip_vocabulary import build_clip_tokenizers, learn_merges
from mezzotint_starter.xl.unet_training import (
    BASE,
    LARGE_BELOW,
    REFINER,
    REFINER_BELOW,
    TrainingLatents,
    build_scheduler,
    conditions,
    draw_batch,
    velocity_loss,
)


@pytest.fixture(scope="module")
def pair():
    tokenizers = build_clip_tokenizers(learn_merges(0, captions=300))
    first, second = build_clip_encoders(0, len(tokenizers[0]))
    return ClipPair(tokenizers=tokenizers, first=first.eval(), second=second.eval(), device="cpu")


@pytest.fixture(scope="module")
def images():
    generator = torch.Generator().manual_seed(0)
    return TrainingLatents(
        small=torch.randn(8, 4, 16, 16, generator=generator), large=torch.randn(5, 4, 32, 32, generator=generator)
    )


@pytest.mark.parametrize("lesson", [BASE, REFINER])
def test_every_fourth_batch_is_of_large_images(images, lesson):
    alphas_cumprod = build_scheduler().alphas_cumprod
    sides = [draw_batch(images, alphas_cumprod, lesson, seed=0, step=step).noisy.shape[-1] for step in range(8)]
    assert sides == [16, 16, 16, 32] * 2


@pytest.mark.parametrize(
    ("lesson", "small", "large"), [(BASE, 1000, LARGE_BELOW), (REFINER, REFINER_BELOW, REFINER_BELOW)]
)
def test_timesteps_are_those_of_the_lesson(images, lesson, small, large):
    alphas_cumprod = build_scheduler().alphas_cumprod
    drawn = {0: [], 3: []}
    for step in range(40):
        drawn.get(step % 4, []).extend(draw_batch(images, alphas_cumprod, lesson, seed=0, step=step).timesteps.tolist())
    assert 0.9 * small < max(drawn[0]) < small
    assert 0.8 * large < max(drawn[3]) < large


def test_image_and_noise_can_be_had_back_from_noisy_image_and_velocity(images):
    scheduler = build_scheduler()
    batch = draw_batch(images, scheduler.alphas_cumprod, BASE, seed=0, step=0)
    share = scheduler.alphas_cumprod[batch.timesteps].view(-1, 1, 1, 1)
    clean = share.sqrt() * batch.noisy - (1 - share).sqrt() * batch.velocity
    known = images.small.flatten(1)
    distances = (clean.flatten(1).unsqueeze(1) - known).abs().amax(dim=2).amin(dim=1)
    assert float(distances.max()) < 1e-3


def test_the_last_timestep_holds_nothing_of_the_image():
    share = float(build_scheduler().alphas_cumprod[-1])
    assert math.sqrt(share) < 1 / 300


def test_no_words_are_zeros_to_the_base_and_words_to_the_refiner(pair):
    text, added = conditions(pair, ["a red house", ""], 128, BASE)
    assert text.shape == (2, 77, 128)
    assert float(text[1].abs().max()) == float(added["text_embeds"][1].abs().max()) == 0
    assert added["time_ids"].tolist() == [[128, 128, 0, 0, 128, 128]] * 2
    text, added = conditions(pair, ["a red house", ""], 256, REFINER)
    assert text.shape == (2, 77, 64)
    assert float(text[1].abs().max()) > 0
    assert added["time_ids"].tolist() == [[256, 256, 0, 0, 6], [256, 256, 0, 0, 2.5]]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", [BASE, REFINER])
def test_the_parts_of_a_batch_have_its_mean_loss(pair, images, lesson):
    unet = build_unet(0, refiner=lesson.refiner)
    batch = draw_batch(images, build_scheduler().alphas_cumprod, lesson, seed=0, step=3)
    with torch.no_grad():
        whole = velocity_loss(unet, pair, batch, lesson)
        parts = [velocity_loss(unet, pair, batch, lesson, slice(part, None, 2)) for part in range(2)]
    torch.testing.assert_close(whole, torch.stack(parts).mean())
    assert 0.1 < float(whole) < 10
