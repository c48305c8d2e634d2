"""Training learns, and a resumed training is the same to the bit."""

import pytest
import torch
from optimizer_cases import OPTIMIZERS
from tiny_training import TinyTraining

from mezzotint.errors import MezzotintError, ModelRefused
from mezzotint.training.trainer import Rates


@pytest.fixture(scope="module")
def tiny(tiny_pixart_folder):
    return TinyTraining(tiny_pixart_folder)


def values(trainer):
    return [each.detach().clone() for each in trainer.adapter.parameters()]


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_it_learns(tiny):
    trainer = tiny.trainer(steps=30)
    before = trainer.validation_loss(lambda: tiny.images)
    for _ in range(30):
        trainer.train_step(tiny.batch)
    assert trainer.validation_loss(lambda: tiny.images) < 0.95 * before


@pytest.mark.slow
def test_a_unet_learns_too(tiny_sdxl_folder):
    tiny = TinyTraining(tiny_sdxl_folder, images=2)
    trainer = tiny.trainer(steps=10)
    before = trainer.validation_loss(lambda: tiny.images)
    for _ in range(10):
        trainer.train_step(lambda number: tiny.batch(number, 2))
    assert trainer.validation_loss(lambda: tiny.images) < before


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_a_resumed_training_is_the_same_to_the_bit(tiny, tmp_path, optimizer, ema):
    whole = tiny.trainer(optimizer=optimizer, ema=ema)
    for _ in range(3):
        whole.train_step(tiny.batch)
    whole.validation_loss(lambda: tiny.images[:1])  # leaves no trace
    for _ in range(3):
        whole.train_step(tiny.batch)
    first = tiny.trainer(optimizer=optimizer, ema=ema)
    for _ in range(3):
        first.train_step(tiny.batch)
    first.save(tmp_path / "state.safetensors", {"losses": [1.0]})
    second = tiny.trainer(optimizer=optimizer, ema=ema)
    assert second.restore(tmp_path / "state.safetensors")["losses"] == [1.0]
    for _ in range(3):
        second.train_step(tiny.batch)
    assert second.step == 6 and same(values(second), values(whole))
    second.save(tmp_path / "second.safetensors", {})
    whole.save(tmp_path / "whole.safetensors", {})
    assert (tmp_path / "second.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


def test_a_batch_has_the_mean_gradient_of_its_parts(tiny):
    trainer, images = tiny.trainer(), tiny.batch(0)
    noise = torch.randn(4, *images[0].latents.shape, generator=torch.Generator().manual_seed(0))
    levels = torch.tensor([10, 400, 600, 900])
    gradients = []
    for size in (4, 2, 1):
        with trainer.adapter.attached():
            for first in range(0, 4, size):
                part = slice(first, first + size)
                trainer._losses(images[part], noise[part], levels[part]).sum().div(4).backward()
        gradients.append([each.grad for each in trainer.adapter.parameters()])
        for each in trainer.adapter.parameters():
            each.grad = None
    for other in gradients[1:]:
        for a, b in zip(gradients[0], other, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_accumulation_takes_all_batches_of_a_step(tiny):
    seen = []

    def batch_at(number):
        seen.append(number)
        return tiny.batch(number)

    trainer = tiny.trainer(accumulate=3)
    for _ in range(2):
        trainer.train_step(batch_at)
    assert seen == list(range(6)) and trainer.step == 2


def test_images_of_several_shapes_are_in_one_step(tiny):
    wide = list(tiny.images[:2])
    narrow = [type(wide[0])(latents=wide[0].latents[:, :, :16], conditioning=wide[0].conditioning)]
    trainer = tiny.trainer()
    assert trainer.train_step(lambda _: [*wide, *narrow]) > 0


def test_a_loss_that_is_no_number_stops_before_the_step(tiny):
    trainer = tiny.trainer()
    trainer.train_step(tiny.batch)
    before = values(trainer)
    bad = type(tiny.images[0])(
        latents=torch.full_like(tiny.images[0].latents, float("inf")), conditioning=tiny.images[0].conditioning
    )
    with pytest.raises(MezzotintError, match="the loss of step 2 is"):
        trainer.train_step(lambda _: [bad])
    assert same(values(trainer), before)


def test_the_state_of_another_rank_is_refused(tiny, tmp_path):
    tiny.trainer(rank=4).save(tmp_path / "state.safetensors", {})
    with pytest.raises(ModelRefused, match="another rank"):
        tiny.trainer(rank=2).restore(tmp_path / "state.safetensors")


def test_rates_rise_stay_and_fall():
    rates = Rates(steps=100, peak=1.0, schedule="cosine", optimizer="adamw")
    assert rates.at(0) == pytest.approx(0.2) and rates.at(4) == rates.at(5) == 1.0
    assert rates.at(99) == pytest.approx(0.1, abs=0.01)
    constant = Rates(steps=100, peak=1.0, schedule="constant", optimizer="adamw")
    assert constant.at(99) == 1.0
