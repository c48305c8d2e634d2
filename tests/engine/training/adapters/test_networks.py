"""Trained layers compute what the file that is written from them computes."""

import pytest
import torch
from tiny_training import TinyTraining
from trained_adapters import predicted, read_back, write

from mezzotint.training.adapters.layers import trainable_layers

KINDS = ("lora", "dora", "lokr")


@pytest.fixture(scope="module", params=["pixart", "sdxl"])
def tiny(request):
    return TinyTraining(request.getfixturevalue(f"tiny_{request.param}_folder"), images=2)


def shaken(adapter, size=0.1):
    """The adapter with other numbers in all parts."""
    generator = torch.Generator().manual_seed(1)
    for parameter in adapter.parameters():
        parameter.data = parameter.data + torch.randn(parameter.shape, generator=generator) * size
    return adapter


@pytest.mark.slow_after(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", ["attention", "all"])
def test_attached_they_compute_as_the_file_does(tiny, tmp_path, kind, layers):
    adapter = shaken(tiny.adapter(kind=kind, alpha=2, choice={"layers": layers}))
    plain = predicted(tiny)
    with adapter.attached():
        attached = predicted(tiny)
    assert not torch.allclose(attached, plain, atol=1e-3)
    assert torch.equal(predicted(tiny), plain)  # detached again
    read = read_back(tiny, write(tiny, adapter, tmp_path / "a.safetensors"))
    merged = predicted(tiny)
    read.let_go()
    torch.testing.assert_close(attached, merged, rtol=1e-4, atol=1e-4 * float(plain.abs().max()))


@pytest.mark.parametrize("kind", KINDS)
def test_fresh_ones_change_nothing_and_are_the_same_for_a_seed(tiny, kind):
    first, second, other = (tiny.adapter(kind=kind, seed=seed) for seed in (0, 0, 1))
    plain = predicted(tiny)
    with first.attached():
        assert torch.equal(predicted(tiny), plain)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns(tiny, kind):
    trainer = tiny.trainer(tiny.adapter(kind=kind), steps=5, peak=2e-2)
    before = trainer.validation_loss(lambda: tiny.images)
    for _ in range(5):
        trainer.train_step(lambda number: tiny.batch(number, 2))
    assert trainer.validation_loss(lambda: tiny.images) < before


def test_attention_and_feed_forward_are_trained_and_modulation_is_not(tiny):
    layers = trainable_layers(tiny.network)
    assert any("attn1.to_q" in name for name in layers) and any(".ff.net.2" in name for name in layers)
    assert not any("norm" in name or "time_emb" in name or "adaln" in name for name in layers)
