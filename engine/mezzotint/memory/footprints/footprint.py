"""The memory footprint of a model: bytes of weights by block, live memory and work of forward passes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mezzotint import memory_protocol
from mezzotint.protocol import GuidancePasses

Scheme: TypeAlias = Literal["none", memory_protocol.Scheme]
# Schemes that take what another does: nvfp4 less than a percent less, because its rows have no scales.
ALIKE: Mapping[Scheme, Scheme] = {"fp8": "int8", "nvfp4": "int4-codebook"}
Role: TypeAlias = Literal["text", "denoiser", "control", "vae"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """A scaling law of bytes or FLOPs: `constant + once + batch (per_item + per_position positions)`.

    Positions are latent pixels (height times width over the square of the VAE's factor) for denoisers and autoencoders,
    tokens for text encoders.
    """

    constant: float = 0.0
    per_item: float = 0.0
    per_position: float = 0.0
    per_position_squared: float = 0.0  # FLOPs of attention, whose memory is linear in positions
    once_per_position: float = 0.0  # shared by the batch, such as tables of positions or pairs of positions
    once_per_position_squared: float = 0.0

    def at(self, positions: float, batch: int = 1) -> float:
        """Evaluate the law at a size."""
        each = self.per_item + positions * (self.per_position + self.per_position_squared * positions)
        once = positions * (self.once_per_position + self.once_per_position_squared * positions)
        return self.constant + once + batch * each


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFootprint:
    """A block, the unit of streaming: layers that run one after another."""

    name: str  # module name in the network
    bytes: Mapping[Scheme, int]  # in device memory; `none` is 16 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFootprint:
    """Footprint of one network."""

    name: str  # unet, text_encoder_2, vae
    role: Role
    class_name: str
    blocks: tuple[BlockFootprint, ...]  # in execution order; empty if the network is never streamed
    outside: Mapping[Scheme, int]  # bytes outside all blocks, always resident while the network works
    live: ScalingLaw  # peak bytes of activations in 16 bits; for an autoencoder, of decoding
    work: ScalingLaw  # FLOPs of one forward pass
    float32: bool = False  # overflows in float16, so float32 is used instead, with twice the memory
    kept_text: int = 0  # cached numbers per prompt token that are kept through a stage
    given: float = 0.0  # numbers per latent pixel that a ControlNet gives to the denoiser
    shared: str = ""  # components of two models with the same key are shared in memory; empty if not shared

    def bytes(self, scheme: Scheme) -> int:
        """Bytes of all weights; unsupported schemes count as `none`."""
        return self.outside_bytes(scheme) + sum(block_bytes(block, scheme) for block in self.blocks)

    def outside_bytes(self, scheme: Scheme) -> int:
        """Bytes of weights outside all blocks."""
        return self.outside.get(scheme, self.outside["none"])


def block_bytes(block: BlockFootprint, scheme: Scheme) -> int:
    """Bytes of a block's weights; unsupported schemes count as `none`."""
    return block.bytes.get(scheme, block.bytes["none"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFootprint:
    """Footprint of a model."""

    id: str
    family: str
    components: tuple[ComponentFootprint, ...]
    vae_factor: int  # pixels per latent pixel along each side
    text_tokens: int  # tokens of a prompt
    width: int  # default size in pixels
    height: int
    steps: int
    guided: bool  # uses CFG by default, with a second forward pass
    halves: tuple[GuidancePasses, ...] = ("batched", "sequential")  # supported guidance modes, preferred first

    @property
    def denoiser(self) -> ComponentFootprint:
        """The denoiser."""
        return next(part for part in self.components if part.role == "denoiser")

    @property
    def controls(self) -> tuple[ComponentFootprint, ...]:
        """The ControlNets, which run before each call of the denoiser."""
        return tuple(part for part in self.components if part.role == "control")
