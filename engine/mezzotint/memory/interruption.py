"""Cancelling inside a network: a pass over large images or slow devices takes minutes, a block of it much less."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from mezzotint.errors import Cancelled
from mezzotint.memory.blocks import blocks_of

_AHEAD = 2  # blocks that may wait on a card: enough to keep it busy, and few enough to stop soon

Mark = Callable[[], Callable[[], object]]  # marks the card's work so far; what it returns waits for that


@contextmanager
def cancellable(networks: Iterable[object], cancelled: Callable[[], bool], mark: Mark | None = None) -> Iterator[None]:
    """Raise Cancelled before the next block of any of these networks once `cancelled()` is true.

    Networks without known blocks are left before each of their parts. `mark`: how to wait for a card's work.
    """
    watch = _Watch(cancelled, mark or _marked_by_event)
    found = {id(each): each for each in networks if isinstance(each, nn.Module)}
    blocks = [block for network in found.values() for block in _parts(network)]
    handles = [block.register_forward_pre_hook(watch, with_kwargs=True) for block in blocks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _parts(network: nn.Module) -> list[nn.Module]:
    blocks = blocks_of(network)
    return [network.get_submodule(name) for name in blocks] or [network, *network.children()]


class _Watch:
    """The hook: asks whether to stop, and lets the program run only a little ahead of the card."""

    def __init__(self, cancelled: Callable[[], bool], mark: Mark) -> None:
        self._cancelled, self._mark = cancelled, mark
        self._waiting: deque[Callable[[], object]] = deque()

    def __call__(self, _module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        on_card = _is_on_card((*given, *named.values()))
        if on_card and torch.cuda.is_current_stream_capturing():
            return  # a graph can be neither waited for nor left while it is recorded
        if self._cancelled():
            raise Cancelled("stopped between two blocks of a network")
        if on_card:
            self._waiting.append(self._mark())
            while len(self._waiting) > _AHEAD:
                self._waiting.popleft()()


def _is_on_card(given: tuple[Any, ...]) -> bool:
    return any(isinstance(each, torch.Tensor) and each.is_cuda for each in given)


def _marked_by_event() -> Callable[[], object]:
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return event.synchronize
