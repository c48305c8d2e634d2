"""What the denoiser of a training needs: traced, or from a law that was fitted to traces."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mezzotint.errors import ModelRefused
from mezzotint.memory.footprints.footprint import ComponentFootprint, ScalingLaw, Scheme
from mezzotint.memory.planning.costs import SLOTS, spread_bytes, streamed_bytes, total_bytes
from mezzotint.memory.planning.task import DType
from mezzotint.training_protocol import Checkpointing

if TYPE_CHECKING:
    import torch

    from mezzotint.families.family import Network
    from mezzotint.memory.footprints.forward_calls import Call

Shape = tuple[int, ...]
Remember = Callable[[str, Callable[[], int]], int]


def traced_anew(_: str, trace: Callable[[], int]) -> int:
    """Remembers nothing."""
    return trace()


class DenoiserNeeds(Protocol):
    """The memory of a frozen denoiser with trained factors."""

    @property
    def blocks(self) -> int:
        """How many blocks can be streamed."""

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""

    def weights(self, scheme: Scheme, streamed: int = 0) -> int | None:
        """Bytes on the device of the weights if some blocks are streamed; None if the scheme fits none of them."""

    def activations(
        self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int, *, offloads: bool
    ) -> int:
        """Peak bytes of activations at this many latent pixels, with what blocks keep offloaded or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLaws:
    """Laws fitted to traces in 16 bits with factors of one rank."""

    rank: int
    layers: tuple[tuple[Shape, int], ...]  # shapes of trained layers, and how many have each
    live: Mapping[Checkpointing, ScalingLaw]
    extra: Mapping[Scheme, ScalingLaw]  # bytes that quantized products need beside
    offloaded: Mapping[Checkpointing, ScalingLaw]  # `live` with what blocks keep in RAM

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""
        from mezzotint.training.adapters.layers import factor_shapes

        return [each for shape, count in self.layers for each in factor_shapes(shape, rank) * count]

    def live_bytes(
        self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int, *, offloads: bool
    ) -> int:
        """Peak bytes of activations; those of factors in 16 bits grow with the rank."""
        cast = 2 * (self._numbers(rank) - self._numbers(self.rank)) if checkpointing == "none" else 0
        extra = self.extra.get(scheme, ScalingLaw())
        law = (self.offloaded if offloads else self.live)[checkpointing]
        return int(law.at(positions, batch) + extra.at(positions, batch)) + cast

    def _numbers(self, rank: int) -> int:
        return sum(math.prod(shape) for shape in self.factor_shapes(rank))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDenoiser:
    """A denoiser with laws."""

    component: ComponentFootprint
    laws: StepLaws
    dtype: DType

    @property
    def blocks(self) -> int:
        """How many blocks can be streamed."""
        return len(self.component.blocks)

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""
        return self.laws.factor_shapes(rank)

    def weights(self, scheme: Scheme, streamed: int = 0) -> int | None:
        """Bytes on the device of the weights; None if the scheme fits none of them."""
        if scheme != "none" and scheme not in self.component.outside:
            return None
        if not streamed:
            return total_bytes(self.component, scheme, self.dtype)
        return streamed_bytes(self.component, scheme, self.dtype, streamed, min(SLOTS))

    def activations(
        self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int, *, offloads: bool
    ) -> int:
        """Peak bytes of activations at this many latent pixels."""
        wide = 2 if self.dtype == "float32" else 1
        return wide * self.laws.live_bytes(checkpointing, scheme, positions, batch, rank, offloads=offloads)


@dataclass(frozen=True, kw_only=True)
class TracedDenoiser:
    """A denoiser that is traced on demand; each trace takes seconds."""

    build: "Callable[[], Network]"  # the network without weights
    call: "Call"
    tokens: int  # of a prompt
    multiple: int  # latents, of the sides of an image
    dtype: DType
    component: ComponentFootprint
    is_stored: bool = False  # quantized in its files: its weights are as the footprint says
    remember: Remember = traced_anew  # keeps what is traced under a name
    _networks: "dict[Scheme, Network | None]" = field(default_factory=dict)

    @property
    def blocks(self) -> int:
        """How many blocks can be streamed."""
        return len(self.component.blocks)

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""
        return self._shaped(rank)

    @functools.cached_property
    def _shaped(self) -> Callable[[int], Sequence[Shape]]:
        return functools.cache(self._shapes)

    def _shapes(self, rank: int) -> Sequence[Shape]:
        from mezzotint.quantization.branched import weight_shape
        from mezzotint.training.adapters.layers import factor_shapes, trainable_layers

        network: Network = self._network("none")
        shapes = [tuple(weight_shape(network.get_submodule(name))) for name in trainable_layers(network)]
        return [each for shape in shapes for each in factor_shapes(shape, rank)]

    def weights(self, scheme: Scheme, streamed: int = 0) -> int | None:
        """Bytes on the device of the weights; None if the scheme fits none of them."""
        sizes = self._sizes(scheme, bool(streamed))
        return None if sizes is None else sizes[0] + spread_bytes(sizes[1], streamed, min(SLOTS))

    def activations(
        self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int, *, offloads: bool
    ) -> int:
        """Peak bytes of activations at this many latent pixels."""
        return self._traced(checkpointing, scheme, positions, batch, rank, offloads)

    @functools.cached_property
    def _sizes(self) -> "Callable[[Scheme, bool], tuple[int, Sequence[int]] | None]":
        return functools.cache(self._measured)

    def _measured(self, scheme: Scheme, packs: bool) -> tuple[int, Sequence[int]] | None:
        """Bytes outside all blocks, and of each block; `packs`: as streaming packs them, not in memory of their own."""
        import torch

        from mezzotint.memory.accounting import GRAIN
        from mezzotint.memory.arena import ALIGNMENT
        from mezzotint.memory.footprints.tracing import faked

        if self.is_stored:
            blocks = [each.bytes["none"] for each in self.component.blocks]
            return (self.component.outside["none"], blocks) if scheme == "none" else None
        network = self._network(scheme)
        if network is None:
            return None
        with faked(network, getattr(torch, self.dtype)):
            grain = ALIGNMENT if packs else GRAIN
            inside = [_tensors(network.get_submodule(block.name)) for block in self.component.blocks]
            sizes = [_bytes(each.values(), grain) for each in inside]
            return _bytes(_tensors(network).values(), grain) - sum(sizes), sizes

    @functools.cached_property
    def _traced(self) -> Callable[[Checkpointing, Scheme, int, int, int, bool], int]:
        return functools.cache(self._trace)

    def _trace(
        self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int, offloads: bool
    ) -> int:
        side = math.ceil(math.sqrt(positions) / self.multiple) * self.multiple

        def trace() -> int:
            import torch

            from mezzotint.training.planning.step_tracing import traced_step

            return traced_step(
                self._network(scheme),
                self.call,
                side=side,
                batch=batch,
                tokens=self.tokens,
                rank=rank,
                checkpointing=checkpointing,
                offloads=offloads,
                dtype=getattr(torch, self.dtype),
            )

        asked = (checkpointing, scheme, side, batch, self.tokens, rank, "offloads" if offloads else "keeps", self.dtype)
        return self.remember("-".join(map(str, ("step", *asked))), trace)

    def _network(self, scheme: Scheme) -> "Network | None":
        from mezzotint.training.planning.step_tracing import quantized_empty

        if scheme not in self._networks:
            try:
                self._networks[scheme] = quantized_empty(self.build(), scheme)
            except ModelRefused:
                self._networks[scheme] = None
        return self._networks[scheme]


def _tensors(module: "torch.nn.Module") -> "dict[int, torch.Tensor]":
    return {id(each): each for each in (*module.parameters(), *module.buffers())}


def _bytes(tensors: "Iterable[torch.Tensor]", grain: int) -> int:
    return sum(-(-each.nbytes // grain) * grain for each in tensors)
