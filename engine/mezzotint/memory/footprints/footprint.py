"""What a model needs: bytes of its weights, block by block, and the live memory and work of its forward passes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mezzotint.protocol import GuidancePasses

Scheme: TypeAlias = Literal["none", "int8", "int8-weight", "int4", "int4-lowrank"]
Role: TypeAlias = Literal["text", "denoiser", "vae"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """`constant + once + batch (per_item + per_position positions)`: of bytes, or of floating-point operations.

    Positions are latent pixels (height times width over the square of the autoencoder's factor) for denoisers and
    autoencoders, tokens for text encoders.
    """

    constant: float = 0.0
    per_item: float = 0.0
    per_position: float = 0.0
    per_position_squared: float = 0.0  # attention's operations; its memory grows with positions alone
    once_per_position: float = 0.0  # of what a batch shares: tables of positions, and of pairs of them
    once_per_position_squared: float = 0.0

    def at(self, positions: float, batch: int = 1) -> float:
        """The fitted value for a size."""
        each = self.per_item + positions * (self.per_position + self.per_position_squared * positions)
        once = positions * (self.once_per_position + self.once_per_position_squared * positions)
        return self.constant + once + batch * each


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFootprint:
    """The unit of streaming: a block of layers that run one after another."""

    name: str  # of the module in its network
    bytes: Mapping[Scheme, int]  # in device memory: with `none` in 16 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFootprint:
    """One network."""

    name: str  # unet, text_encoder_2, vae
    role: Role
    class_name: str
    blocks: tuple[BlockFootprint, ...]  # in the order in which they run; none: it is never streamed
    outside: Mapping[Scheme, int]  # bytes of what lies in no block, and stays for as long as the network works
    live: Law  # bytes of activations at their peak, in 16 bits; of an autoencoder: of decoding
    work: Law  # operations of one forward pass
    float32: bool = False  # it overflows in float16, and so takes twice the memory there
    kept_text: int = 0  # numbers of each token of the words that are kept through a stage
    shared: str = ""  # components of equal key in two models are one in memory; empty: its own

    def bytes(self, scheme: Scheme) -> int:
        """Of all weights; a scheme that it cannot take counts as none."""
        return self.outside_bytes(scheme) + sum(block_bytes(block, scheme) for block in self.blocks)

    def outside_bytes(self, scheme: Scheme) -> int:
        """Bytes of weights that belong to no block."""
        return self.outside.get(scheme, self.outside["none"])


def block_bytes(block: BlockFootprint, scheme: Scheme) -> int:
    """Of one block's weights; a scheme that it cannot take counts as none."""
    return block.bytes.get(scheme, block.bytes["none"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFootprint:
    """A model as planning sees it."""

    id: str
    family: str
    components: tuple[ComponentFootprint, ...]
    vae_factor: int  # pixels per latent pixel, along a side
    text_tokens: int  # of a prompt
    width: int  # pixels; what it is best at
    height: int
    steps: int
    guided: bool  # a second forward pass for the negative prompt is usual
    halves: tuple[GuidancePasses, ...] = ("batched", "sequential")  # of guidance, how they may come; the best first

    def component(self, name: str) -> ComponentFootprint:
        """The one of that name; KeyError if there is none."""
        return next(part for part in self.components if part.name == name) if self.has(name) else _missing(name)

    def has(self, name: str) -> bool:
        """Whether there is a component of that name."""
        return any(part.name == name for part in self.components)

    @property
    def denoiser(self) -> ComponentFootprint:
        """The network that makes images."""
        return next(part for part in self.components if part.role == "denoiser")


def _missing(name: str) -> ComponentFootprint:
    raise KeyError(name)
