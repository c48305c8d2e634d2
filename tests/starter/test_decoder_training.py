"""The decoder learns alone, first from the error, then from its critic too."""

import pytest
import torch

from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter.autoencoder import encode_scenes
from mezzotint_starter.critic import adaptive_weight, build_critic, critic_loss, generator_loss
from mezzotint_starter.decoder_training import drawn_batch, train_decoder
from mezzotint_starter.networks import build_autoencoder
from mezzotint_starter.state import load_tensors
from mezzotint_starter.trainer import Trainer, TrainingSchedule


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
def test_sharpening_leaves_the_latents_alone(tmp_path):
    network, scenes = build_autoencoder(0).eval(), [training_scene(0, 1)]
    latents = encode_scenes(network, scenes, "cpu")
    weight = network.decoder.conv_out.weight.clone()
    train_decoder(network, tmp_path, seed=0, steps=2, device="cpu")
    assert torch.equal(encode_scenes(network, scenes, "cpu"), latents)
    assert not torch.equal(network.decoder.conv_out.weight, weight)


@pytest.mark.slow
def test_the_critic_joins_in_after_half_of_a_short_course(tmp_path):
    train_decoder(build_autoencoder(0).eval(), tmp_path, seed=0, steps=2, device="cpu", parts=2)
    found = load_tensors(tmp_path / "sharpening.safetensors")
    assert found is not None
    tensors, numbers = found
    assert numbers["step"] == 2
    fresh = build_critic(0).state_dict()
    assert any(not torch.equal(tensors[f"critic/weight.{name}"], value) for name, value in fresh.items())


@pytest.mark.slow
def test_a_critic_learns_to_tell_blurred_from_sharp():
    critic = build_critic(0)
    trainer = Trainer(critic, TrainingSchedule(phase="test", steps=60, peak_lr=1e-3, warm_up=1, betas=(0.5, 0.9)))
    sharp = drawn_batch(0, 0)
    blurred = torch.nn.functional.avg_pool2d(sharp, 5, stride=1, padding=2)
    for _ in range(40):
        trainer.train_step([lambda: critic_loss(critic, sharp, blurred)])
    with torch.no_grad():
        assert critic(sharp).mean() > critic(blurred).mean() + 0.5
        assert generator_loss(critic, blurred) > generator_loss(critic, sharp)


def test_balanced_losses_pull_equally_hard():
    last = torch.randn(5, requires_grad=True)
    first, second = (last * 3).sum(), (last * 0.3).square().sum()
    (wanted,) = torch.autograd.grad(first, last, retain_graph=True)
    (scaled,) = torch.autograd.grad(adaptive_weight(first, second, last) * second, last)
    torch.testing.assert_close(scaled.norm(), wanted.norm(), rtol=0.05, atol=0)


def test_every_other_batch_is_of_parts_of_larger_images():
    whole, parts = drawn_batch(0, 0), drawn_batch(0, 1)
    assert whole.shape == parts.shape == (4, 3, 128, 128)
    assert torch.equal(drawn_batch(0, 1, slice(1, None, 2)), parts[1::2])
