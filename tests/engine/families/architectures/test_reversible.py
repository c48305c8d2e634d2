"""Reversible blocks: the gradients are those of ordinary autograd, and no activation is kept."""

from dataclasses import replace

import pytest
import torch
from card_jobs import pixels, request_of, run
from tiny_training import TinyTraining
from tiny_variant import write_tiny_variant
from torch.autograd.graph import saved_tensors_hooks

from mezzotint.families.architectures import reversible
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.stages.models import model_cache
from mezzotint.stages.models.placement import network_key
from mezzotint.training.checkpointing import apply_checkpointing

TOLERANCES = {torch.float32: 1e-6, torch.float64: 1e-12}


class Kept:
    """Ordinary autograd in the place of `Streams`."""

    def __init__(self, *, draws):
        self.add = reversible._added

    def finish(self, first, second):
        pass


@pytest.fixture(scope="module")
def folder(tiny_pixart_folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("reversible") / "variant"
    return write_tiny_variant(tiny_pixart_folder, place, {"trunk": "reversible"})


def network_of(layers=12, dropout=0.0, dtype=torch.float32, **others):
    torch.manual_seed(0)
    config = {
        "num_attention_heads": 2,
        "attention_head_dim": 8,
        "num_layers": layers,
        "cross_attention_dim": 16,
        "caption_channels": 12,
        "sample_size": 8,
        "in_channels": 4,
        "out_channels": 4,
        "dropout": dropout,
        "use_additional_conditions": False,
        "architecture": {"trunk": "reversible"},
    }
    return PixArtVariantTransformer2DModel.from_config(config | others).to(dtype).train()


def predicted(network, seed=1):
    """The output for fixed inputs and random numbers, in the network's dtype."""
    generator, dtype = torch.Generator().manual_seed(seed), network.dtype
    mask = torch.ones(2, 5)
    mask[1, 3:] = 0
    torch.manual_seed(seed)
    return network(
        torch.randn(2, 4, 8, 8, generator=generator).to(dtype),
        encoder_hidden_states=torch.randn(2, 5, 12, generator=generator).to(dtype),
        encoder_attention_mask=mask,
        timestep=torch.tensor([30.0, 700.0], dtype=dtype),
        added_cond_kwargs={"resolution": None, "aspect_ratio": None},
        return_dict=False,
    )[0]


def gradients(network):
    output = predicted(network)
    return output.detach(), torch.autograd.grad(output.float().square().mean(), list(network.parameters()))


def gap(ours, theirs):
    """Relative distance of all gradients together: those of keys' biases are zero but for rounding."""
    ours, theirs = (torch.cat([each.double().flatten() for each in found]) for found in (ours, theirs))
    return float((ours - theirs).norm() / theirs.norm())


@pytest.mark.parametrize("dropout", [0.0, 0.2])
@pytest.mark.parametrize("dtype", list(TOLERANCES))
def test_gradients_are_those_of_ordinary_autograd(monkeypatch, dtype, dropout):
    network = network_of(dtype=dtype, dropout=dropout)
    output, found = gradients(network)
    monkeypatch.setattr(reversible, "Streams", Kept)
    expected_output, expected = gradients(network)
    assert torch.equal(output, expected_output)
    assert gap(found, expected) < TOLERANCES[dtype]


def test_with_autocast_gradients_are_those_of_ordinary_autograd(monkeypatch):
    network = network_of(layers=3)
    with torch.autocast("cpu", torch.bfloat16):
        output = predicted(network)
    assert output.dtype == torch.bfloat16
    found = torch.autograd.grad(output.float().square().mean(), list(network.parameters()))
    monkeypatch.setattr(reversible, "Streams", Kept)
    with torch.autocast("cpu", torch.bfloat16):
        output = predicted(network)
    expected = torch.autograd.grad(output.float().square().mean(), list(network.parameters()))
    assert gap(found, expected) < 1e-3


def test_blocks_without_text_are_reversible_too(monkeypatch):
    network = network_of(layers=2, cross_attention_dim=None, caption_channels=None)
    _, found = gradients_without_unused(network)
    monkeypatch.setattr(reversible, "Streams", Kept)
    _, expected = gradients_without_unused(network)
    assert gap(found, expected) < 1e-6


def gradients_without_unused(network):
    output = predicted(network)
    found = torch.autograd.grad(output.square().mean(), list(network.parameters()), allow_unused=True)
    return output, [each for each in found if each is not None]


def test_in_16_bits_reversing_loses_nothing(monkeypatch):
    network = network_of(dtype=torch.bfloat16)
    output, found = gradients(network)
    assert output.dtype == torch.bfloat16
    monkeypatch.setattr(reversible, "Streams", Kept)
    _, expected = gradients(network)
    assert gap(found, expected) < 1e-2


def test_without_gradients_the_output_is_the_same():
    network = network_of(layers=2)
    with torch.no_grad():
        plain = predicted(network)
    assert torch.equal(predicted(network), plain)


def kept_bytes(layers):
    """Bytes that autograd saves outside of blocks, and the weights it saves there."""
    network, storages = network_of(layers=layers), {}
    blocks = {each.untyped_storage().data_ptr() for each in network.transformer_blocks.parameters()}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in blocks:
            storages[storage.data_ptr()] = storage
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        output = predicted(network)
    del output
    return sum(each.nbytes() for each in storages.values())


def test_what_is_kept_does_not_depend_on_the_depth():
    assert kept_bytes(2) == kept_bytes(8)


def test_a_lora_in_hooks_learns_as_with_ordinary_autograd(folder, monkeypatch):
    tiny = TinyTraining(folder, images=2)

    def trained():
        trainer = tiny.trainer(peak=1e-2)
        undo = apply_checkpointing(tiny.network, "sqrt")
        losses = [trainer.train_step(lambda _: tiny.images) for _ in range(3)]
        undo()
        return losses, [each.detach().clone() for each in trainer.adapter.parameters()]

    losses, factors = trained()
    monkeypatch.setattr(reversible, "Streams", Kept)
    expected_losses, expected = trained()
    assert losses == pytest.approx(expected_losses, rel=1e-6)
    assert gap(factors, expected) < 1e-5
    assert losses[-1] != losses[0]


@pytest.mark.slow
def test_an_image_is_generated_and_streamed_to_the_bit(folder, tiny_pixart_folder, tmp_path, monkeypatch):
    job = request_of(folder, tmp_path=tmp_path)
    plain, original, streamed = run(job), model_cache._arrange, []
    assert pixels(plain) != pixels(run(request_of(tiny_pixart_folder, tmp_path=tmp_path)))

    def settle(residency, model, part):
        original(residency, model, replace(part, resident_blocks=min(part.blocks, 1), slots=1))
        streamed.append(residency[network_key(model, part.name)].resident < part.blocks)

    monkeypatch.setattr(model_cache, "_arrange", settle)
    assert pixels(run(replace(job, vram_limit_bytes=512 * 2**20))) == pixels(plain)
    assert any(streamed)
