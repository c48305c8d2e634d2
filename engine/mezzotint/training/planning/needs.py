"""What the denoiser of a training needs: traced, or from a law that was fitted to traces."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mezzotint.errors import ModelRefused
from mezzotint.memory.footprints.footprint import ComponentFootprint, ScalingLaw, Scheme
from mezzotint.memory.planning.costs import total_bytes
from mezzotint.memory.planning.task import DType
from mezzotint.training_protocol import Checkpointing

if TYPE_CHECKING:
    from mezzotint.families.family import Network
    from mezzotint.memory.footprints.forward_calls import Call

Shape = tuple[int, ...]


class DenoiserNeeds(Protocol):
    """The memory of a frozen denoiser with trained factors."""

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""

    def weights(self, scheme: Scheme) -> int | None:
        """Bytes of the weights; None if the scheme fits none of them."""

    def activations(self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int) -> int:
        """Peak bytes of activations at this many latent pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLaws:
    """Laws fitted to traces in 16 bits with factors of one rank."""

    rank: int
    layers: tuple[tuple[Shape, int], ...]  # shapes of trained layers, and how many have each
    live: Mapping[Checkpointing, ScalingLaw]
    extra: Mapping[Scheme, ScalingLaw]  # bytes that quantized products need beside

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""
        from mezzotint.training.adapters.layers import factor_shapes

        return [each for shape, count in self.layers for each in factor_shapes(shape, rank) * count]

    def live_bytes(self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int) -> int:
        """Peak bytes of activations; those of factors in 16 bits grow with the rank."""
        cast = 2 * (self._numbers(rank) - self._numbers(self.rank)) if checkpointing == "none" else 0
        extra = self.extra.get(scheme, ScalingLaw())
        return int(self.live[checkpointing].at(positions, batch) + extra.at(positions, batch)) + cast

    def _numbers(self, rank: int) -> int:
        return sum(math.prod(shape) for shape in self.factor_shapes(rank))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDenoiser:
    """A denoiser with laws."""

    component: ComponentFootprint
    laws: StepLaws
    dtype: DType

    def factor_shapes(self, rank: int) -> Sequence[Shape]:
        """Shapes of all factors."""
        return self.laws.factor_shapes(rank)

    def weights(self, scheme: Scheme) -> int | None:
        """Bytes of the weights; None if the scheme fits none of them."""
        known = scheme == "none" or scheme in self.component.outside
        return total_bytes(self.component, scheme, self.dtype) if known else None

    def activations(self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int) -> int:
        """Peak bytes of activations at this many latent pixels."""
        wide = 2 if self.dtype == "float32" else 1
        return wide * self.laws.live_bytes(checkpointing, scheme, positions, batch, rank)


@dataclass(frozen=True, kw_only=True)
class TracedDenoiser:
    """A denoiser that is traced on demand; each trace takes seconds."""

    build: "Callable[[], Network]"  # the network without weights
    call: "Call"
    tokens: int  # of a prompt
    multiple: int  # latents, of the sides of an image
    dtype: DType
    stored_bytes: int | None = None  # of weights that are quantized in their files; None: as traced
    _networks: "dict[Scheme, Network | None]" = field(default_factory=dict)

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

    def weights(self, scheme: Scheme) -> int | None:
        """Bytes of the weights; None if the scheme fits none of them."""
        return self._weighed(scheme)

    @functools.cached_property
    def _weighed(self) -> Callable[[Scheme], int | None]:
        return functools.cache(self._weigh)

    def _weigh(self, scheme: Scheme) -> int | None:
        import torch

        from mezzotint.memory.accounting import rounded
        from mezzotint.memory.footprints.tracing import faked

        if self.stored_bytes is not None:
            return self.stored_bytes if scheme == "none" else None
        network = self._network(scheme)
        if network is None:
            return None
        with faked(network, getattr(torch, self.dtype)):
            tensors = {id(each): each for each in (*network.parameters(), *network.buffers())}
            return sum(rounded(each.nbytes) for each in tensors.values())

    def activations(self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int) -> int:
        """Peak bytes of activations at this many latent pixels."""
        return self._traced(checkpointing, scheme, positions, batch, rank)

    @functools.cached_property
    def _traced(self) -> Callable[[Checkpointing, Scheme, int, int, int], int]:
        return functools.cache(self._trace)

    def _trace(self, checkpointing: Checkpointing, scheme: Scheme, positions: int, batch: int, rank: int) -> int:
        import torch

        from mezzotint.training.planning.step_tracing import traced_step

        side = math.ceil(math.sqrt(positions) / self.multiple) * self.multiple
        return traced_step(
            self._network(scheme),
            self.call,
            side=side,
            batch=batch,
            tokens=self.tokens,
            rank=rank,
            checkpointing=checkpointing,
            dtype=getattr(torch, self.dtype),
        )

    def _network(self, scheme: Scheme) -> "Network | None":
        from mezzotint.training.planning.step_tracing import quantized_empty

        if scheme not in self._networks:
            try:
                self._networks[scheme] = quantized_empty(self.build(), scheme)
            except ModelRefused:
                self._networks[scheme] = None
        return self._networks[scheme]
