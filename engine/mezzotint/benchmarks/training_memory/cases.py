"""Activations that a transformer block keeps for its backward pass, and how they grow with the depth.

The block is softmax(Q K^T / sqrt(d)) V without an output projection, then two layers with GELU between them; X is the
input, Q, K, V its projections, O the attention's output, Z and H what is before and after GELU, Y the output. Nothing
is computed: tensors are fake, and on the CPU, because attention on `meta` would keep its scores.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from mezzotint.memory.footprints.live_memory import LiveMemory
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training_protocol import Checkpointing

TOKENS, WIDTH = 512 * 512, 128
DEPTHS = (4, 16, 64, 256)
_DEEP_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """One case: bytes that stay after the forward pass, by our byte account and by autograd's hooks."""

    case: str  # A: scores are kept, B: they are not, C: only X and Y are
    heads: int
    kept_bytes: int
    hooked_bytes: int  # of storages that autograd saves, and Y


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthRow:
    """Bytes that a stack of blocks keeps."""

    blocks: int
    checkpointing: Checkpointing
    kept_bytes: int


class Block(nn.Module):
    """The block, for x `(1, n, d)`."""

    def __init__(self, *, width: int = WIDTH, heads: int = 1, keeps_scores: bool = False) -> None:
        super().__init__()
        self._heads, self._keeps_scores = heads, keeps_scores
        self.projections = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(3))
        self.first, self.second = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return Y, of the same shape."""
        q, k, v = (each(x).unflatten(-1, (self._heads, -1)).transpose(1, 2) for each in self.projections)
        if self._keeps_scores:
            mixed = (q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)).softmax(-1) @ v
        else:
            mixed = scaled_dot_product_attention(q, k, v)
        y: Tensor = self.second(nn.functional.gelu(self.first(mixed.transpose(1, 2).flatten(2))))
        return y


class Stack(nn.Module):
    """Blocks one after another."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(blocks))

    def forward(self, x: Tensor) -> Tensor:
        """Return what the last block returns."""
        for layer in self.layers:
            x = layer(x)
        return x


def cases() -> Iterator[CaseRow]:
    """Cases A, B and C, with one head and with eight."""
    for heads in (1, 8):
        yield _case("A", heads, partial(Block, heads=heads, keeps_scores=True))
        yield _case("B", heads, partial(Block, heads=heads))
    yield _case("C", 8, partial(Block, heads=8), again=True)


def depths(counts: Sequence[int] = DEPTHS) -> Iterator[DepthRow]:
    """What stacks of blocks keep."""
    modes: tuple[Checkpointing, ...] = ("none", "blocks", "sqrt")
    for blocks in counts:
        for mode in modes:
            with FakeTensorMode():
                network, x = Stack(blocks), torch.empty(1, _DEEP_TOKENS, WIDTH)
                undo = apply_checkpointing(network, mode)
                network(x)  # finds the segments
                memory = LiveMemory()
                with memory:
                    kept = network(x)
                yield DepthRow(blocks=blocks, checkpointing=mode, kept_bytes=memory.live)
                del kept
                undo()


def _case(case: str, heads: int, build: Callable[[], nn.Module], *, again: bool = False) -> CaseRow:
    with FakeTensorMode():
        network, saved, memory = build(), {}, LiveMemory()
        weights = {id(each.untyped_storage()) for each in network.parameters()}

        def pack(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            if id(storage) not in weights:
                saved[id(storage)] = storage
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
        with memory:
            x = torch.empty(1, TOKENS, WIDTH)
            with nullcontext() if again else hooks:
                y = checkpoint(network, x, use_reentrant=False) if again else network(x)
        ends = [y.untyped_storage(), *([x.untyped_storage()] if again else [])]
        saved |= {id(each): each for each in ends}
        return CaseRow(
            case=case, heads=heads, kept_bytes=memory.live, hooked_bytes=sum(each.nbytes() for each in saved.values())
        )
