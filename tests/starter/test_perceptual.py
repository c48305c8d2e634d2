"""The perceptual loss tells images apart by features, and a decoder trained with it resumes to the bit."""

from functools import partial

import pytest
import torch

from mezzotint.benchmarks.postcards.judge import build_judge
from mezzotint_starter import decoder_training, perceptual
from mezzotint_starter.decoder_training import PerceptualLoss, drawn_batch, train_decoder
from mezzotint_starter.networks import build_autoencoder
from mezzotint_starter.perceptual import Perception, train_perception
from mezzotint_starter.trainer import TrainingSchedule


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(decoder_training, "BATCH", 1)
    monkeypatch.setattr(perceptual, "BATCH", 2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def perception():
    return Perception(build_judge(1).body)


@pytest.fixture
def images():
    return drawn_batch(0, 0)


def blurred(images, size):
    return torch.nn.functional.avg_pool2d(images, size, stride=1, padding=size // 2, count_include_pad=False)


def test_equal_images_are_not_apart_and_blur_is_the_worse_the_wider(perception, images):
    again = images.clone().requires_grad_()
    same = perception(again, images)
    same.backward()
    assert float(same.detach()) == 0 and float(again.grad.abs().max()) == 0
    apart = [float(perception(blurred(images, size), images)) for size in (3, 5, 9)]
    assert 0 < apart[0] < apart[1] < apart[2]


def test_it_is_the_sum_over_layers_of_differences_of_unit_vectors(perception, images):
    first, second, wanted = images.double(), blurred(images, 5).double(), 0.0
    exact = Perception(build_judge(1).double().body)
    found = float(exact(first, second))
    for layer in exact.layers:
        first, second = layer(first), layer(second)
        unit = [each / each.norm(dim=1, keepdim=True).clamp_min(1e-12) for each in (first, second)]
        wanted += float((unit[0] - unit[1]).square().sum(dim=1).mean())
    assert found == pytest.approx(wanted, rel=1e-3)


def test_gradients_are_finite_without_any_features(perception):
    flat = torch.zeros(1, 3, 128, 128, requires_grad=True)
    perception(flat, torch.ones(1, 3, 128, 128)).backward()
    assert bool(torch.isfinite(flat.grad).all()) and float(flat.grad.abs().max()) > 0
    assert all(each.grad is None for each in perception.parameters())


def test_the_layers_are_trained_and_kept(tmp_path):
    first = train_perception(tmp_path, seed=0, steps=2, device="cpu")
    again = train_perception(tmp_path, seed=0, steps=2, device="cpu")
    pairs = list(zip(first.parameters(), again.parameters(), build_judge(1).body.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert not all(torch.equal(a, fresh) for a, _, fresh in pairs)
    assert not any(a.requires_grad for a, _, _ in pairs)


@pytest.mark.slow
def test_a_decoder_trained_with_it_is_the_same_after_a_stop(perception, tmp_path, monkeypatch):
    monkeypatch.setattr(decoder_training, "TrainingSchedule", partial(TrainingSchedule, save_seconds=0.0))
    whole = decoder(tmp_path / "whole", perception)
    drawn = decoder_training.drawn_batch

    def stopping(seed, step, shard=slice(None)):
        if step == 2:
            raise KeyboardInterrupt
        return drawn(seed, step, shard)

    with monkeypatch.context() as patch:
        patch.setattr(decoder_training, "drawn_batch", stopping)
        with pytest.raises(KeyboardInterrupt):
            decoder(tmp_path / "stopped", perception)
    resumed = decoder(tmp_path / "stopped", perception)
    assert all(torch.equal(resumed[name], value) for name, value in whole.items())
    without = decoder(tmp_path / "without", None)
    assert not all(torch.equal(without[name], value) for name, value in whole.items())


def decoder(folder, perception):
    network = build_autoencoder(0).eval()
    loss = None if perception is None else PerceptualLoss(perception=perception, weight=1.0)
    train_decoder(network, folder, seed=0, steps=3, device="cpu", perceptual=loss)
    return network.decoder.state_dict()
