"""Chains of blocks: each is given what the one before returned, and everything else unchanged."""

import functools
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _python_dispatch
from torch.utils._pytree import tree_leaves

Slot = int | str  # of an argument: its position or its name
Link = Mapping[Slot, int | None]  # arguments that a block takes from the result before: its place there; None: all


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Blocks that run one after another, and how each result becomes arguments of the next block."""

    blocks: tuple[str, ...]
    links: tuple[Link, ...]  # one fewer

    def part(self, first: int, length: int) -> "Chain":
        """Some of the blocks."""
        return replace(self, blocks=self.blocks[first : first + length], links=self.links[first : first + length - 1])

    def passed_on(
        self,
        place: int,
        result: Any,  # noqa: ANN401
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of block `place + 1`, from the result and the arguments of the block before."""
        taken = {slot: result if index is None else result[index] for slot, index in self.links[place].items()}
        return tuple(taken.get(slot, each) for slot, each in enumerate(args)), {
            name: taken.get(name, each) for name, each in kwargs.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A block's call, which keeps its tensors alive so that their identities stay unique."""

    arguments: Mapping[Slot, Any]
    result: Any


def chains_of(network: nn.Module, blocks: Sequence[str], run: Callable[[], object]) -> tuple[Chain, ...]:
    """The chains of two or more blocks in the forward pass `run`, which is called without gradients.

    A result that anything but the next block takes ends a chain.
    """
    recorder = _Recorder()
    recorder.record(network, blocks, run)
    chains: list[Chain] = []
    for place, (block, link) in enumerate(zip(recorder.blocks, recorder.links, strict=True)):
        if link is None or recorder.blocks.count(block) > 1 or place - 1 in recorder.used:
            chains.append(Chain(blocks=(block,), links=()))
        else:
            last = chains.pop()
            chains.append(Chain(blocks=(*last.blocks, block), links=(*last.links, link)))
    return tuple(chain for chain in chains if chain.links)


class _Recorder(_python_dispatch.TorchDispatchMode):
    """Records which blocks are called, how each is linked to the one before, and whose results are used elsewhere."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.blocks: list[str] = []
        self.links: list[Link | None] = []
        self.used: set[int] = set()  # places of blocks
        self._results: dict[int, tuple[weakref.ref[Tensor], int]] = {}  # a result by its identity, with its block
        self._before: _Call | None = None
        self._is_inside = False

    def record(self, network: nn.Module, blocks: Sequence[str], run: Callable[[], object]) -> None:
        """Run and record."""
        modules = [(name, network.get_submodule(name)) for name in blocks]
        handles = [
            module.register_forward_pre_hook(functools.partial(self._enter, name), with_kwargs=True)
            for name, module in modules
        ]
        handles += [module.register_forward_hook(self._leave, with_kwargs=True) for _, module in modules]
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]), self:
                self._use(run())
        finally:
            for handle in handles:
                handle.remove()

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  any torch operation
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run an operation."""
        kwargs = kwargs or {}
        if not self._is_inside:
            self._use((args, kwargs))
        return func(*args, **kwargs)

    def _use(self, tree: object) -> None:
        for each in tree_leaves(tree):
            reference, place = self._results.get(id(each), (None, 0))
            if reference is not None and reference() is each:
                self.used.add(place)

    def _enter(self, name: str, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.blocks.append(name)
        self.links.append(None if self._before is None else _link(self._before, _arguments(args, kwargs)))
        self._is_inside = True

    def _leave(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:  # noqa: ANN401
        self._is_inside = False
        self._before = _Call(arguments=_arguments(args, kwargs), result=result)
        for each in tree_leaves(result):
            if isinstance(each, Tensor):
                self._results[id(each)] = (weakref.ref(each), len(self.blocks) - 1)


def _arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[Slot, Any]:
    return dict([*enumerate(args), *kwargs.items()])


def _link(before: _Call, arguments: Mapping[Slot, Any]) -> Link | None:
    """How a block's arguments follow from the call before; None if they do not."""
    if list(before.arguments) != list(arguments):
        return None
    results = dict(_results(before.result))
    link: dict[Slot, int | None] = {}
    for slot, value in arguments.items():
        if isinstance(value, Tensor) and id(value) in results:
            link[slot] = results[id(value)]
        elif not _is_same(value, before.arguments[slot]):
            return None
    return link if set(link.values()) == set(results.values()) else None


def _results(result: object) -> Iterator[tuple[int, int | None]]:
    if isinstance(result, Tensor):
        yield id(result), None
    elif isinstance(result, tuple | list):
        yield from ((id(each), place) for place, each in enumerate(result))


def _is_same(one: object, other: object) -> bool:
    if one is other:
        return True
    plain = isinstance(one, Hashable) and isinstance(one, int | float | str | bool | type(None))
    return plain and one == other
