"""Block tables into the library's structures, seen from the other side by a stand-in that reads them."""

from dataclasses import replace

import pytest
import torch
from fake_backward import FakeBackward
from fake_kernels import FakeKernels

from mezzotint.attention.blocks.building import build_table
from mezzotint.attention.blocks.chosen import hashed_table, top_table
from mezzotint.attention.blocks.grids import Grid, window_table
from mezzotint.attention.blocks.kernels import kernel_attention
from mezzotint.attention.blocks.patterns import full_table, local_table
from mezzotint.attention.blocks.reference import block_reference
from mezzotint.attention.blocks.tail import tail_attention
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import Masks
from mezzotint.attention.session import AttentionSession
from mezzotint.dispatch.library import Unavailable, Unsupported, open_installed


@pytest.fixture
def fake():
    return FakeKernels()


def tensors(nq, nk, batch=2, heads=2, kv_heads=2):
    generator = torch.Generator().manual_seed(nq + nk)
    shapes = ((batch, heads, nq, 16), (batch, kv_heads, nk, 16), (batch, kv_heads, nk, 16))
    return [torch.randn(shape, generator=generator).bfloat16() for shape in shapes]


def random_table(batch, heads, nq, nk, block_q=64):
    generator = torch.Generator().manual_seed(1)
    candidates = torch.rand(batch, heads, -(-nq // block_q), -(-nk // 64), generator=generator) < 0.6
    return build_table(candidates, nq, nk, lambda i, j: (i + j) % 3 > 0, block_q=block_q)


TABLES = {
    "by batch and head": random_table(2, 2, 70, 100),
    "rows of 128": random_table(1, 1, 140, 70, block_q=128),
    "whole blocks": full_table(70, 100),
    "nothing": build_table(torch.zeros(1, 1, 2, 2, dtype=torch.bool), 70, 100),
    "windows of text and image": window_table(Grid(height=10, width=9, text_before=5), 1),
    "by hash": hashed_table(tensors(100, 100)[0], 8),
    "top": top_table(*tensors(130, 140, heads=2)[:2], 1),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_reach_the_library_as_they_are(fake, name):
    table = TABLES[name]
    q, k, v = tensors(table.q_tokens, table.k_tokens)
    out, lse = kernel_attention(CompiledAttention(fake), q, k, v, table, with_lse=True)
    exact, sums = block_reference(q, k, v, table)
    assert out.dtype is torch.bfloat16 and len(fake.launches) == 1
    torch.testing.assert_close(out.double(), exact, rtol=0.01, atol=0.01)
    torch.testing.assert_close(lse.double(), sums, rtol=1e-4, atol=1e-4)


def test_shared_keys_with_orders_by_head(fake):
    q, k, v = tensors(100, 100, heads=4)
    table = hashed_table(q, 8)
    out, lse = kernel_attention(CompiledAttention(fake), q, k, v, table)
    assert lse is None and fake.launches[0].kv_heads == 4
    torch.testing.assert_close(out.double(), block_reference(q, k, v, table)[0], rtol=0.01, atol=0.01)


def test_one_kind_of_table_is_planned_once(fake):
    kernels, (q, k, v) = CompiledAttention(fake), tensors(100, 100)
    for radius in (5, 30):
        kernel_attention(kernels, q, k, v, local_table(100, radius))
    assert (len(fake.plans), len(fake.launches)) == (1, 2)
    kernels(q, k, v)
    kernel_attention(kernels, q, k, v, random_table(1, 2, 100, 100))
    assert (len(fake.plans), len(fake.launches)) == (3, 4)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (local_table(90, 5), r"the table is for \(90, 90\) queries and keys, and there are \(100, 100\)"),
        (random_table(1, 3, 100, 100), "there are tables for 1 x 3"),
        (random_table(3, 1, 100, 100), "there are tables for 3 x 1"),
        (local_table(100, 5).to("meta"), "the table is on meta"),
    ],
)
def test_a_table_for_others_is_refused(fake, table, words):
    with pytest.raises(ValueError, match=words):
        CompiledAttention(fake)(*tensors(100, 100), table=table)
    assert fake.launches == []


def test_odd_blocks_and_gradients_of_a_tail_have_no_kernel(fake, install_backward):
    install_backward(FakeBackward())
    q, k, v = tensors(100, 100)
    with pytest.raises(Unsupported, match="blocks of 48 x 48; the kernels take 64 x 64 and 128 x 64"):
        kernel_attention(CompiledAttention(fake), q, k, v, local_table(100, 5, block=48))
    with pytest.raises(Unsupported, match="gradients of attention with a pooled tail are wanted"):
        tail_attention(CompiledAttention(fake), q.requires_grad_(), k, v, local_table(100, 5))
    assert fake.launches == []


@pytest.mark.parametrize("name", TABLES)
def test_gradients_are_those_of_the_reference(fake, install_backward, name):
    library, table = install_backward(FakeBackward()), TABLES[name]
    q, k, v = (each.requires_grad_() for each in tensors(table.q_tokens, table.k_tokens))
    out, _ = kernel_attention(CompiledAttention(fake), q, k, v, table)
    gradient = torch.randn(out.shape, generator=torch.Generator().manual_seed(1)).bfloat16()
    found = torch.autograd.grad(out, (q, k, v), gradient)
    exact = torch.autograd.grad(block_reference(q, k, v, table)[0], (q, k, v), gradient.double())
    for ours, right in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, right.nan_to_num(0.0), rtol=0.02, atol=0.02)
    assert (len(fake.launches), len(library.launches)) == (1, 1)


def test_a_kind_of_gradient_is_planned_once(fake, install_backward):
    library, (q, k, v) = install_backward(FakeBackward()), tensors(100, 100)
    for table in (local_table(100, 5), local_table(100, 30), random_table(1, 2, 100, 100)):
        kernel_attention(CompiledAttention(fake), q.requires_grad_(), k, v, table)[0].sum().backward()
    assert (len(library.plans), len(library.launches)) == (2, 3)


def test_after_a_failed_backward_plain_torch_computes_it(fake, install_backward):
    library, table = install_backward(FakeBackward("launch")), TABLES["windows of text and image"]
    q, k, v = (each.requires_grad_() for each in tensors(table.q_tokens, table.k_tokens))
    found, exact = (
        torch.autograd.grad(out.double().sum(), (q, k, v))
        for out in (kernel_attention(CompiledAttention(fake), q, k, v, table)[0], block_reference(q, k, v, table)[0])
    )
    for ours, right in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, right, rtol=0.03, atol=0.03)
    assert len(library.launches) == 1


@pytest.mark.parametrize("chosen", ["flash", "int8", "sdpa", "reference"])
@pytest.mark.parametrize("block", [16, 48, 64])
def test_a_session_attends_by_a_table(fake, chosen, block, notices):
    kernels = CompiledAttention(fake) if chosen in ("flash", "int8") else None
    session = AttentionSession(asked="auto", chosen=chosen, kernels=kernels, tell=notices)
    table, (q, k, v) = local_table(100, 20, block=block), tensors(100, 100)
    out = session.attend(q, k, v, table=table)
    torch.testing.assert_close(out.double(), block_reference(q, k, v, table)[0], rtol=0.02, atol=0.02)
    assert [each.flags for each in fake.launches] == (
        [{"flash": 0, "int8": 2}[chosen]] if kernels and block != 48 else []
    )
    assert bool(notices) == (kernels is not None and block == 48)


def test_without_8_bit_scores_a_table_has_16(fake, notices):
    def plan(arguments, device, known=fake.plan):
        if arguments.flags & 2:
            raise Unsupported("no kernel in 8 bits")
        return known(arguments, device)

    fake.plan = plan
    session = AttentionSession(asked="auto", chosen="int8", kernels=CompiledAttention(fake), tell=notices)
    q, k, v = tensors(100, 100)
    session.attend(q, k, v, table=local_table(100, 20))
    assert (len(fake.launches), session.calls, notices) == (1, 1, [])


def test_masks_and_a_table_are_not_taken_together(fake, notices):
    session = AttentionSession(asked="auto", chosen="sdpa", kernels=None, tell=notices)
    q, k, v = tensors(100, 100)
    with pytest.raises(ValueError, match="masks or a block table"):
        session.attend(q, k, v, Masks(causal=True), table=local_table(100, 5))


@pytest.mark.parametrize("pooled", [False, True])
def test_gradients_that_kernels_do_not_have_are_those_of_plain_torch(fake, notices, pooled, install_backward):
    if pooled:
        install_backward(FakeBackward())
    session = AttentionSession(asked="auto", chosen="flash", kernels=CompiledAttention(fake), tell=notices)
    q, k, v = (each.requires_grad_() for each in tensors(100, 100))
    session.attend(q, k, v, table=replace(local_table(100, 20), pooled=pooled)).float().sum().backward()
    assert q.grad is not None and fake.launches == [] and len(notices) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_tables_on_a_card(name, int8):
    try:
        kernels = CompiledAttention(open_installed())
    except Unavailable as error:
        pytest.skip(str(error))
    table = TABLES[name]
    generator = torch.Generator().manual_seed(1)
    q, k, v = (
        torch.randn(2, 2, tokens, 64, generator=generator).bfloat16().cuda()
        for tokens in (table.q_tokens, table.k_tokens, table.k_tokens)
    )
    out, lse = kernel_attention(kernels, q, k, v, table.to("cuda"), int8=int8, with_lse=True)
    exact, sums = block_reference(q.cpu(), k.cpu(), v.cpu(), table)
    torch.testing.assert_close(out.cpu().double(), exact, rtol=0.05, atol=0.05)
    torch.testing.assert_close(lse.cpu().double(), sums, rtol=0.01, atol=0.05)
