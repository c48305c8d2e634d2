"""Kinds of self-attention in a network: built, loaded from dense weights, trained, saved, and left alone by a job."""

from typing import get_args

import pytest
import torch
from card_jobs import pixels, request_of, run
from diffusers import PixArtTransformer2DModel
from tiny_variant import write_tiny_variant

from mezzotint.attention.processor import attending
from mezzotint.attention.session import AttentionSession
from mezzotint.families.architectures.attention_kinds import KINDS, place
from mezzotint.families.architectures.kind_processor import KindProcessor
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.architectures.table import AttentionKind
from mezzotint.memory.footprints.tracing import faked
from mezzotint.training.checkpointing import apply_checkpointing

CONFIG = {
    "num_attention_heads": 2,
    "attention_head_dim": 8,
    "num_layers": 2,
    "cross_attention_dim": 16,
    "caption_channels": 12,
    "sample_size": 16,
    "in_channels": 4,
    "out_channels": 4,
    "use_additional_conditions": False,
}
STORED = {
    "lsh": {"rotations"},
    "routing": {"centroids"},
    "performer": {"projection"},
    "rfa": {"projection", "sigma"},
    "linformer": {"of_keys", "of_values"},
}
every_kind = pytest.mark.parametrize("kind", sorted(KINDS))


def network_of(kind, **others):
    """A network with the weights of the dense one."""
    torch.manual_seed(0)
    dense = PixArtTransformer2DModel(**CONFIG).state_dict()
    network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": {"attention": kind, **others}})
    network.load_state_dict(network.state_dict() | dense)
    return network


def predicted(network, rows=16, columns=16):
    generator = torch.Generator().manual_seed(1)
    return network(
        torch.randn(2, 4, rows, columns, generator=generator),
        encoder_hidden_states=torch.randn(2, 5, 12, generator=generator),
        encoder_attention_mask=torch.ones(2, 5),
        timestep=torch.tensor([30.0, 700.0]),
        added_cond_kwargs={"resolution": None, "aspect_ratio": None},
        cross_attention_kwargs={"key_lengths": torch.tensor([5, 5], dtype=torch.int32)},
        return_dict=False,
    )[0]


def gradients(network):
    output = predicted(network)
    return torch.autograd.grad(output.square().mean(), list(network.parameters()))


def test_each_kind_is_one_of_the_table():
    assert {*KINDS, "dense"} == set(get_args(AttentionKind))


def test_dense_attention_is_pixarts_to_the_bit():
    theirs, ours = PixArtTransformer2DModel(**CONFIG), network_of("dense")
    theirs.load_state_dict(ours.state_dict())
    assert torch.equal(predicted(theirs), predicted(ours))


@every_kind
@pytest.mark.parametrize("grid", [(16, 16), (12, 26)])
def test_a_kind_has_the_weights_of_dense_attention_and_others_of_its_own(kind, grid):
    network, dense = network_of(kind), network_of("dense")
    stored = {name.rpartition(".")[2] for name in {*network.state_dict()} - {*dense.state_dict()}}
    assert stored == STORED.get(kind, set())
    with torch.no_grad():
        found, wanted = predicted(network, *grid), predicted(dense, *grid)
    assert found.shape == wanted.shape and found.isfinite().all() and not torch.allclose(found, wanted)


@every_kind
def test_all_weights_are_trained(kind):
    network = network_of(kind).train()
    for name, found in zip(dict(network.named_parameters()), gradients(network), strict=True):
        assert found.isfinite().all() and (found.any() or name.endswith("to_k.bias")), name


@every_kind
def test_saved_it_gives_the_same_to_the_bit(kind, tmp_path):
    network = network_of(kind).eval()
    with torch.no_grad():
        for name, stored in network.state_dict().items():
            if ".processor." in name:
                stored.mul_(1.1)  # other than drawn
        expected = predicted(network)
    network.save_pretrained(tmp_path)
    again = PixArtVariantTransformer2DModel.from_pretrained(tmp_path)
    assert dict(again.config)["architecture"] == {"attention": kind}
    assert torch.equal(predicted(again), expected)


@every_kind
def test_drawn_tensors_are_the_same_each_time_and_of_each_layer(kind):
    one, again = (network_of(kind).state_dict() for _ in range(2))
    own = [name for name in one if ".processor." in name and not name.endswith(("sigma", "of_keys", "of_values"))]
    assert all(torch.equal(one[name], again[name]) for name in own)
    assert not any(torch.equal(one[name], one[name.replace(".0.attn1", ".1.attn1")]) for name in own if ".0." in name)


@every_kind
def test_a_jobs_session_leaves_it_alone(kind):
    network = network_of(kind).eval()
    session = AttentionSession(asked="reference", chosen="reference", kernels=None, tell=lambda *_: None)
    expected = predicted(network)
    with attending(session, [network]):
        assert all(isinstance(block.attn1.processor, KindProcessor) for block in network.transformer_blocks)
        torch.testing.assert_close(predicted(network), expected)  # its cross-attention is the session's


@pytest.mark.slow_after(4)
@every_kind
def test_footprints_are_traced_without_values(kind):
    with torch.device("meta"):
        network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": {"attention": kind}})
    with faked(network, torch.float32), torch.no_grad():
        assert predicted(network).shape == (2, 4, 16, 16)


@pytest.mark.parametrize("kind", ["lsh", "routing", "performer"])
@pytest.mark.parametrize("mode", ["blocks", "sqrt"])
def test_checkpointing_changes_no_gradient(kind, mode):
    """What is chosen when blocks run again is what was chosen before."""
    expected, network = gradients(network_of(kind).train()), network_of(kind).train()
    apply_checkpointing(network, mode)
    for one, other in zip(gradients(network), expected, strict=True):
        torch.testing.assert_close(one, other)


@every_kind
def test_a_reversible_trunk_takes_every_kind(kind):
    network = network_of(kind, trunk="reversible").train()
    assert all(found.isfinite().all() for found in gradients(network))


@pytest.mark.parametrize("kind", ["local", "lsh", "performer"])
def test_images_of_a_folder(kind, tiny_pixart_folder, tmp_path):
    folder = write_tiny_variant(tiny_pixart_folder, tmp_path / "variant", {"attention": kind})
    models = (folder, folder, tiny_pixart_folder)
    one, again, dense = (pixels(run(request_of(each, tmp_path=tmp_path))) for each in models)
    assert one == again != dense


def test_tokens_without_a_grid_lie_in_a_row():
    layer = network_of("local").transformer_blocks[0].attn1
    assert layer.processor.grid_of(64) == (8, 8) and layer.processor.grid_of(40) == (1, 40)
    place(layer, (4, 16))
    assert layer.processor.grid_of(64) == (4, 16)
    place(layer, None)
    assert layer.processor.grid_of(64) == (1, 64)


@pytest.mark.parametrize("given", ["encoder_hidden_states", "attention_mask"])
def test_it_is_self_attention_without_masks(given):
    layer = network_of("relu").transformer_blocks[0].attn1
    with pytest.raises(ValueError, match="it takes neither other tokens nor a mask"):
        layer(torch.zeros(1, 64, 16), **{given: torch.zeros(1, 64, 16)})
