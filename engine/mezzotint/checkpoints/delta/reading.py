"""Reads the tensors of a delta file whole, one by one: its own, then those of the trunk with what is added."""

from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.delta.layout import FACTORS, SCALE, Delta, is_delta, open_delta
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused

if TYPE_CHECKING:
    import torch

    Tensors = dict[str, torch.Tensor]


def read_delta(
    path: Path,
    *,
    on_bytes: Callable[[int], None],
    cancelled: Callable[[], bool],
    names: Container[str] | None = None,
) -> Iterator[tuple[str, "torch.Tensor"]]:
    """Yield the tensors in `names` (None: all), like `read_tensors`; bytes are those of whole tensors.

    Of the file itself, only the low-rank factors are kept in memory. Raises ModelRefused for numbers that are not
    finite.
    """
    delta = open_delta(read_header(path))
    for name, tensor in _tensors(delta, names, cancelled):
        if not tensor.isfinite().all():
            raise ModelRefused(f"{plain(path, 300)}: '{plain(name, 60)}' has numbers that are not finite")
        on_bytes(tensor.nbytes)
        yield name, tensor


def _tensors(
    delta: Delta, names: Container[str] | None, cancelled: Callable[[], bool]
) -> Iterator[tuple[str, "torch.Tensor"]]:
    factors: Tensors = {}
    codes: Tensors = {}
    own, coded = _wanted(delta.own, names), _wanted(delta.coded, names)
    scales = {name + SCALE: name for name in coded}
    stored = {*own, *coded, *scales, *(name + suffix for name in _wanted(delta.added, names) for suffix in FACTORS)}
    for name, tensor in read_tensors([delta.header.path], on_bytes=_uncounted, cancelled=cancelled, names=stored):
        if name in own:
            yield name, tensor
        elif name.endswith(FACTORS):
            factors[name] = tensor
        else:
            codes[name] = tensor
            weight = scales.get(name, name)
            if weight in codes and weight + SCALE in codes:
                yield weight, _decoded(codes.pop(weight), codes.pop(weight + SCALE))
    yield from _taken(delta, names, factors, cancelled)


def _taken(
    delta: Delta, names: Container[str] | None, factors: "Tensors", cancelled: Callable[[], bool]
) -> Iterator[tuple[str, "torch.Tensor"]]:
    users: dict[str, list[str]] = {}
    for own in _wanted(delta.taken, names):
        users.setdefault(delta.taken[own], []).append(own)
    if delta.trunk is None:
        return
    if is_delta(read_header(delta.trunk)):
        trunk = read_delta(delta.trunk, on_bytes=_uncounted, cancelled=cancelled, names=users)
    else:
        trunk = read_tensors([delta.trunk], on_bytes=_uncounted, cancelled=cancelled, names=users)
    for theirs, tensor in trunk:
        for own in users[theirs]:
            yield own, _added(tensor, factors, own) if own + FACTORS[0] in factors else tensor.clone()


def _decoded(codes: "torch.Tensor", scale: "torch.Tensor") -> "torch.Tensor":
    return (codes.float() * scale.view(-1, *[1] * (codes.ndim - 1))).half()


def _added(tensor: "torch.Tensor", factors: "Tensors", name: str) -> "torch.Tensor":
    up, scale, down = (factors[name + suffix].float() for suffix in FACTORS)
    return (tensor.float() + (up * scale @ down).reshape(tensor.shape)).to(tensor.dtype)


def _wanted(found: Iterable[str], names: Container[str] | None) -> set[str]:
    return {name for name in found if names is None or name in names}


def _uncounted(_: int) -> None:
    """Ignore bytes of the files: whole tensors are counted."""
