"""Sparse kinds are dense attention with the table's mask, and compute no more than their blocks."""

import math

import pytest
import torch
from fake_backward import FakeBackward
from fake_kernels import FakeKernels

from mezzotint.attention.blocks.chosen import Centroids
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import Masks
from mezzotint.attention.processor import attending
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.attention.session import AttentionSession
from mezzotint.families.architectures.attention_kinds import KINDS
from mezzotint.families.architectures.sparse_kinds import SparseProcessor
from mezzotint.memory.footprints.live_memory import counted

HEADS, HEAD_DIM = 2, 8
SPARSE = ("local", "dilated", "strided", "block_sparse", "longformer", "bigbird", "lsh", "routing")
WIDTH = HEADS * HEAD_DIM
every_sparse_kind = pytest.mark.parametrize("kind", SPARSE)


def tensors(tokens, batch=2):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(batch, HEADS, tokens, HEAD_DIM, generator=generator).requires_grad_() for _ in range(3)]


def processor_of(kind, grid, number=0):
    made = KINDS[kind](HEADS, HEAD_DIM, grid, number)
    assert isinstance(made, SparseProcessor)
    return made


def operations(kind, side, number=0):
    """FLOPs of one image."""
    processor, given = processor_of(kind, (side, side), number), tensors(side * side, batch=1)
    with counted() as work:
        processor.attend(*given)
    return work.operations


@every_sparse_kind
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("grid", [(8, 8), (6, 15)])
def test_it_is_dense_attention_with_the_tables_mask(kind, number, grid):
    processor = processor_of(kind, grid, number)
    q, k, v = tensors(grid[0] * grid[1])
    seen = processor.table(q, k).seen()
    bias = torch.zeros(seen.shape).masked_fill(~seen, -math.inf)
    out, wanted = processor.attend(q, k, v), attention_sdpa(q, k, v, Masks(bias=bias))
    torch.testing.assert_close(out, wanted)
    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
    found, exact = (torch.autograd.grad(each, (q, k, v), weights) for each in (out, wanted))
    torch.testing.assert_close(found, exact)


@every_sparse_kind
def test_in_a_session_kernels_compute_it_with_its_gradients(kind, install_backward):
    backward, forward, told = install_backward(FakeBackward()), FakeKernels(), []
    session = AttentionSession(
        asked="auto", chosen="flash", kernels=CompiledAttention(forward), tell=lambda *notice: told.append(notice)
    )
    processor = processor_of(kind, (6, 7))
    q, k, v = (each.detach().bfloat16().requires_grad_() for each in tensors(42, batch=1))
    plain = processor.attend(q, k, v)
    with attending(session, [torch.nn.ModuleList([processor])]):
        out = processor.attend(q, k, v)
    assert processor.session is None and len(forward.launches) == 1
    torch.testing.assert_close(out, plain, rtol=0.02, atol=0.02)
    found, exact = (torch.autograd.grad(each.sum(), (q, k, v)) for each in (out, plain))
    assert (len(backward.launches), told) == (1, [])
    torch.testing.assert_close(found, exact, rtol=0.05, atol=0.05)


@every_sparse_kind
def test_each_token_sees_something_and_of_few_tokens_some_are_left_out(kind):
    for number in (0, 1):
        table = processor_of(kind, (8, 8), number).table(*tensors(64)[:2])
        assert table.seen().any(-1).all() and table.density < 1


@pytest.mark.parametrize("kind", ["local", "dilated", "strided", "longformer", "bigbird"])
def test_after_all_layers_every_token_depends_on_every_other(kind):
    """Of a network like starter-dit: 64 tokens, 6 layers."""
    reached = torch.eye(64, dtype=torch.bool)
    for number in range(6):
        seen = processor_of(kind, (8, 8), number).table(*tensors(64)[:2]).seen()[0, 0]
        reached = (seen.float() @ reached.float()) > 0
    assert reached.all()


def test_windows_move_in_each_second_layer():
    first, second = (processor_of("local", (8, 8), number).table(*tensors(64)[:2]).seen()[0, 0] for number in (0, 1))
    place = torch.arange(64)
    y, x = place // 8, place % 8
    assert torch.equal(first, (y[:, None] // 4 == y // 4) & (x[:, None] // 4 == x // 4))
    assert torch.equal(second, ((y + 2)[:, None] // 4 == (y + 2) // 4) & ((x + 2)[:, None] // 4 == (x + 2) // 4))


def test_work_is_that_of_the_formulas():
    tokens = 256
    assert operations("strided", 16, 1) == 4 * tokens**2 * WIDTH / 4
    assert operations("local", 16) == 4 * tokens * 16 * WIDTH
    means = 2 * 16 * 16 * WIDTH  # scores of the blocks' means
    assert operations("block_sparse", 16) == 4 * tokens**2 * WIDTH / 4 + means
    hashing = 2 * tokens * WIDTH * 16  # 32 buckets, half of them opposite
    assert operations("lsh", 16) == 8 * tokens * 16 * WIDTH - 4 * 16 * 16 * WIDTH + hashing  # none before the first
    clusters = 2 * 2 * tokens * 16 * WIDTH  # affinities of queries and keys
    assert operations("routing", 16) == 4 * tokens * 16 * WIDTH + clusters
    assert operations("bigbird", 16) <= 4 * tokens * 5 * 8 * WIDTH + 4 * 8 * tokens * WIDTH  # and the global row


@pytest.mark.parametrize(
    ("kind", "exponent"),
    [("local", 1), ("dilated", 1), ("longformer", 1), ("bigbird", 1), ("routing", 1.5), ("block_sparse", 2)],
)
def test_work_grows_with_the_tokens_to_a_power(kind, exponent):
    assert abs(math.log(operations(kind, 32) / operations(kind, 16), 4) - exponent) < 0.06


def test_centroids_are_pulled_to_the_nearest_tokens():
    """Whatever the outputs are for."""
    processor, (q, k, v) = processor_of("routing", (4, 4)), tensors(16)
    drawn = processor.centroids.detach().clone()
    nearest = Centroids(means=drawn).updated(torch.cat([q, k], dim=2), decay=0.0).means
    for output in (processor.attend(q, k, v).sum(), 100 * processor.attend(q, k, v).square().mean()):
        (found,) = torch.autograd.grad(output, processor.centroids)
        torch.testing.assert_close(found, 1e-3 * (drawn - nearest))


def test_trained_centroids_are_nearer_to_the_tokens():
    processor, (q, k, v) = processor_of("routing", (8, 8)), tensors(64)
    optimizer = torch.optim.AdamW(processor.parameters(), lr=0.01)

    def nearness():
        unit = torch.nn.functional.normalize(processor.centroids.detach(), dim=-1)
        return Centroids(means=unit).affinities(torch.cat([q, k], dim=2)).amax(-1).mean()

    before = nearness()
    for _ in range(30):
        optimizer.zero_grad()
        processor.attend(q, k, v).sum().backward()
        optimizer.step()
    assert nearness() > before + 0.05


def test_frozen_centroids_have_no_gradient():
    processor, (q, k, v) = processor_of("routing", (4, 4)).requires_grad_(requires_grad=False), tensors(16)
    processor.attend(q, k, v).sum().backward()
    assert processor.centroids.grad is None and q.grad.any()
