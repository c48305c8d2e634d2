"""Tables of fixed patterns of one sequence: windows, dilated and strided ones, global tokens, random blocks."""

import torch
from torch import Tensor

from mezzotint.attention.blocks.building import BLOCK, across, build_table, near
from mezzotint.attention.blocks.table import BlockTable


def full_table(q_tokens: int, k_tokens: int, *, block: int = BLOCK) -> BlockTable:
    """Every query sees every key."""
    rows, columns = -(-q_tokens // block), -(-k_tokens // block)
    every = torch.ones(1, 1, rows, columns, dtype=torch.bool)
    return build_table(every, q_tokens, k_tokens, block_q=block, block_k=block)


def local_table(tokens: int, radius: int, *, block: int = BLOCK) -> BlockTable:
    """Tokens at most `radius` apart see each other (sliding window, arXiv 2004.05150)."""
    return longformer_table(tokens, radius, 0, block=block)


def longformer_table(tokens: int, radius: int, global_tokens: int, *, block: int = BLOCK) -> BlockTable:
    """A window, and first tokens that see and are seen by all (Longformer, arXiv 2004.05150)."""
    positions = torch.arange(tokens)
    candidates = near(positions, radius, block) | across(positions < global_tokens, block)

    def rule(i: Tensor, j: Tensor) -> Tensor:
        return ((i - j).abs() <= radius) | (i < global_tokens) | (j < global_tokens)

    return build_table(candidates, tokens, tokens, rule, block_q=block, block_k=block)


def global_local_table(tokens: int, radius: int, every: int, *, block: int = BLOCK) -> BlockTable:
    """A window, and each `every`-th token global (ETC's global-local attention, arXiv 2004.08483).

    The global tokens come first, so that they fill blocks of their own.
    """
    order = torch.cat([torch.arange(0, tokens, every), torch.arange(tokens)[torch.arange(tokens) % every != 0]])
    candidates = near(torch.arange(tokens), radius, block) | across(order % every == 0, block)

    def rule(i: Tensor, j: Tensor) -> Tensor:
        return ((i - j).abs() <= radius) | (i % every == 0) | (j % every == 0)

    return build_table(candidates, tokens, tokens, rule, block_q=block, block_k=block, q_order=order, k_order=order)


def dilated_table(tokens: int, radius: int, dilation: int, *, block: int = BLOCK) -> BlockTable:
    """Tokens see those 0 to `radius` times `dilation` before and after them (dilated window, arXiv 2004.05150).

    Tokens with the same remainder lie together, where this is a window.
    """
    order = by_remainder(tokens, dilation)
    candidates = near(torch.arange(tokens), radius, block)

    def rule(i: Tensor, j: Tensor) -> Tensor:
        return ((i - j) % dilation == 0) & ((i - j).abs() <= radius * dilation)

    return build_table(candidates, tokens, tokens, rule, block_q=block, block_k=block, q_order=order, k_order=order)


def strided_table(tokens: int, stride: int, *, block: int = BLOCK) -> BlockTable:
    """Tokens whose numbers differ by a multiple of `stride` see each other (Sparse Transformer, arXiv 1904.10509)."""
    order = by_remainder(tokens, stride)
    candidates = near(order % stride, 0, block)

    def rule(i: Tensor, j: Tensor) -> Tensor:
        return (i - j) % stride == 0

    return build_table(candidates, tokens, tokens, rule, block_q=block, block_k=block, q_order=order, k_order=order)


def by_remainder(tokens: int, divisor: int) -> Tensor:
    """Tokens sorted by their remainder, `(tokens,)`."""
    return (torch.arange(tokens) % divisor).sort(stable=True).indices


def neighbour_table(tokens: int, radius: int, *, block: int = BLOCK) -> BlockTable:
    """Whole blocks see whole blocks at most `radius` blocks away (block-sparse attention)."""
    return bigbird_table(tokens, radius, global_blocks=0, random_blocks=0, block=block)


def bigbird_table(
    tokens: int, radius: int, *, global_blocks: int = 1, random_blocks: int = 3, seed: int = 0, block: int = BLOCK
) -> BlockTable:
    """Neighbouring blocks, first blocks that are global, and seeded random ones for each row (arXiv 2007.14062)."""
    rows = torch.arange(-(-tokens // block))
    candidates = (rows[:, None] - rows).abs() <= radius
    candidates |= (rows[:, None] < global_blocks) | (rows < global_blocks)
    drawn = torch.rand(candidates.shape, generator=torch.Generator().manual_seed(seed)).masked_fill_(candidates, 2.0)
    candidates |= drawn.argsort(dim=1).argsort(dim=1) < random_blocks
    return build_table(candidates[None, None], tokens, tokens, block_q=block, block_k=block)
