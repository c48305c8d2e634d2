"""Branches of low rank as the kernels take them: in x's format, of ranks in steps of 16, made once for each layer."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.linear import Branch

RANK_STEP = 16
HIGHEST_RANK = 256

_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelBranches:
    """What a kernel adds with the product, and what is added to its result."""

    inside: Branch | None
    outside: Branch | None


@dataclass(frozen=True, slots=True)
class _Kept:
    sources: tuple["weakref.ref[Tensor]", ...]
    made: KernelBranches


class BranchCache:
    """Remembers what was made of which tensors, as long as those live."""

    def __init__(self) -> None:
        self._kept: dict[_Key, _Kept] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, branches: Sequence[Branch], dtype: torch.dtype) -> KernelBranches:
        """The branches of a layer, all of scale 1, for x of that format; the first that fit go inside."""
        if not branches:
            return _NONE
        sources = tuple(each for branch in branches for each in (branch.down, branch.up))
        key: _Key = (dtype, *((id(each), each.data_ptr()) for each in sources))
        kept = self._kept.get(key)
        if kept is None or any(ref() is not each for ref, each in zip(kept.sources, sources, strict=True)):
            kept = _Kept(tuple(self._watched(each, key) for each in sources), _divided(branches, dtype))
            self._kept[key] = kept
        return kept.made

    def _watched(self, source: Tensor, key: _Key) -> "weakref.ref[Tensor]":
        return weakref.ref(source, lambda _: self._kept.pop(key, None))


_NONE = KernelBranches(inside=None, outside=None)


def _divided(branches: Sequence[Branch], dtype: torch.dtype) -> KernelBranches:
    inside: list[Branch] = []
    outside: list[Branch] = []
    for branch in branches:
        rank = branch.down.shape[0] + sum(each.down.shape[0] for each in inside)
        (inside if rank <= HIGHEST_RANK else outside).append(branch)
    return KernelBranches(inside=_one(inside, dtype, step=RANK_STEP), outside=_one(outside, dtype))


def _one(branches: Sequence[Branch], dtype: torch.dtype, step: int = 1) -> Branch | None:
    """All of them as one of that format, filled up with zeros to a rank that is a multiple of the step."""
    if not branches:
        return None
    down = torch.cat([branch.down.to(dtype) for branch in branches])
    up = torch.cat([branch.up.to(dtype) for branch in branches], dim=1)
    missing = -down.shape[0] % step
    if missing:
        down, up = functional.pad(down, (0, 0, 0, missing)), functional.pad(up, (0, missing))
    return Branch(down=down, up=up)
