"""Keys and values of the words, computed once and not in every step.

In plain cross-attention (SDXL's and PixArt's) they are made of the prompt alone, and that is the same in every step.
What a layer gave is given again for the very same memory as input, untouched since: nothing is compared by value and
nothing is rounded, so an image is the same bit for bit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, nn

Layer: TypeAlias = Any  # a linear layer or a caption's projection; diffusers publishes no types

_HALVES = 2  # of the guidance, which may come one after the other
_STATE = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "training")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What a layer gave, and for what."""

    x: Tensor  # held, so that no other tensor comes to lie where it does
    y: Tensor
    versions: tuple[int | None, int | None]
    branches: tuple[object, ...]

    def is_of(self, x: Tensor) -> bool:
        """Whether x is the same memory, seen the same way."""
        same = (x.dtype, x.device) == (self.x.dtype, self.x.device)
        return same and x.is_set_to(self.x)  # the projection's output comes as a fresh view of it

    def serves(self, x: Tensor, branches: tuple[object, ...]) -> bool:
        """Whether it is what the layer would give for x: nothing has changed since."""
        return self.is_of(x) and (_version(x), _version(self.y)) == self.versions and branches == self.branches


class CachedLayer(nn.Module):
    """Stands for a layer of a network: its parameters under their names, and its last outputs while they hold.

    The layer is called as ever when it is called at all, so its hooks are; in a tuple it is no part of the network.
    """

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        vars(self).update({name: vars(layer)[name] for name in _STATE})
        self.plain = (layer,)
        self._kept: list[_Kept] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the layer has
        """What is asked of the layer, such as the type of its weight."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(vars(self)["plain"][0], name)

    @property
    def kept_bytes(self) -> int:
        """Of the outputs that are remembered."""
        return sum(y.nbytes for y in self.outputs)

    @property
    def outputs(self) -> list[Tensor]:
        """What is remembered."""
        return [kept.y for kept in self._kept]

    def forward(self, x: Tensor) -> Tensor:
        """What the layer makes of x `(b, n, d)`."""
        layer = self.plain[0]
        branches = tuple(getattr(module, "branches", None) for module in layer.modules())
        for kept in self._kept:
            if kept.serves(x, branches):
                return kept.y
        self._make_room(x)
        y: Tensor = layer(x)
        self._kept.append(_Kept(x=x, y=y, versions=(_version(x), _version(y)), branches=branches))
        return y

    def _make_room(self, x: Tensor) -> None:
        """Let go of what a new output takes the place of, before that takes memory."""
        self._kept = [kept for kept in self._kept if not kept.is_of(x)][1 - _HALVES :]

    def forget(self) -> None:
        """Let go of what is remembered."""
        self._kept = []


class TextCache:
    """What is remembered of the words in one network."""

    def __init__(self, layers: tuple[CachedLayer, ...]) -> None:
        self._layers = layers

    @property
    def kept_bytes(self) -> int:
        """The memory that it takes now, beside the conditioning itself."""
        return sum(layer.kept_bytes for layer in self._layers)

    def forget(self) -> None:
        """Drop everything that is cached."""
        for layer in self._layers:
            layer.forget()


@contextmanager
def cached_text(network: nn.Module) -> Iterator[TextCache]:
    """Have the network compute what it makes of the words alone once; afterwards it is as it was, and nothing is kept.

    LoRAs are put on before, not inside: a layer that remembers is no place for branches to be put.
    """
    wrapped = [(parent, name, CachedLayer(getattr(parent, name))) for parent, name in _places(network)]
    cache = TextCache(tuple(layer for _, _, layer in wrapped))
    try:
        for parent, name, layer in wrapped:
            setattr(parent, name, layer)
        yield cache
    finally:
        cache.forget()
        for parent, name, layer in wrapped:
            setattr(parent, name, layer.plain[0])


def kept_width(network: nn.Module) -> int:
    """How many numbers of each token of the words are kept while a network works: what it gives, and what it makes."""
    layers = [getattr(parent, name) for parent, name in _places(network)]
    if not layers:
        return 0
    linear = [[module for module in layer.modules() if isinstance(module, nn.Linear)] for layer in layers]
    return linear[-1][0].in_features + sum(inside[-1].out_features for inside in linear)


def _places(network: nn.Module) -> list[tuple[nn.Module, str]]:
    """Where layers see the words and nothing else, by parent and name; none if the network has no cross-attention."""
    attending = [module for module in network.modules() if _reads_words_alone(module)]
    places = [(module, name) for module in attending for name in ("to_k", "to_v")]
    if places and isinstance(getattr(network, "caption_projection", None), nn.Module):
        places.append((network, "caption_projection"))  # else keys and values would see new tensors in every step
    return places


def _reads_words_alone(module: nn.Module) -> bool:
    # A norm before keys and values makes a new tensor in every step, so that nothing could be remembered.
    if not getattr(module, "is_cross_attention", False) or getattr(module, "norm_cross", None) is not None:
        return False
    return all(isinstance(getattr(module, name, None), nn.Module) for name in ("to_k", "to_v"))


def _version(tensor: Tensor) -> int | None:
    """How often a tensor was written to; of tensors of inference mode torch does not say, and nobody writes to them."""
    return None if tensor.is_inference() else tensor._version
