"""Blocks that can be left out of a network, because each returns what it is given, changed."""

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from mezzotint.families.family import Network
from mezzotint.memory.blocks import blocks_of
from mezzotint.training.block_chains import Link, chains_of


class SkippableBlocks:
    """The blocks of a network whose results the next block takes in their own arguments' place.

    Of each list only those count that are built alike, so that a shorter list can be described by its length.
    """

    def __init__(self, network: Network, run: Callable[[], object]) -> None:
        """`run`: a forward pass."""
        self._network = network
        links: dict[str, Link] = {}
        for chain in chains_of(network, blocks_of(network), run):
            links |= dict(zip(chain.blocks, (*chain.links, chain.links[-1]), strict=True))
        alike = _alike(network, links)
        self._links = {name: link for name, link in links.items() if name in alike}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the order of execution."""
        return tuple(self._links)

    @contextmanager
    def skipping(self, names: Collection[str]) -> Iterator[None]:
        """Context manager: the network runs without these blocks."""
        modules = [(self._network.get_submodule(name), self._links[name]) for name in names]
        before = [module.__dict__.get("forward") for module, _ in modules]
        for module, link in modules:
            module.forward = functools.partial(_passed_through, link)
        try:
            yield
        finally:
            for (module, _), forward in zip(modules, before, strict=True):
                del module.__dict__["forward"]
                if forward is not None:
                    module.forward = forward


def _passed_through(link: Link, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """What a block returns that changes nothing."""
    results = {place: args[slot] if isinstance(slot, int) else kwargs[slot] for slot, place in link.items()}
    if None in results:
        return results[None]
    return tuple(results[place] for place in sorted(place for place in results if place is not None))


def _alike(network: nn.Module, names: Mapping[str, Link]) -> set[str]:
    """The blocks that have the most frequent shapes of their list."""
    shapes = {name: _shapes(network.get_submodule(name)) for name in names}
    lists: dict[str, list[str]] = {}
    for name in names:
        lists.setdefault(name.rpartition(".")[0], []).append(name)
    found = set()
    for members in lists.values():
        usual, _ = Counter(shapes[name] for name in members).most_common(1)[0]
        found |= {name for name in members if shapes[name] == usual}
    return found


def _shapes(module: nn.Module) -> tuple[object, ...]:
    return tuple((name, tuple(each.shape)) for name, each in module.state_dict().items())
