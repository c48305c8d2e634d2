"""Activations of a training step by depth and trunk: checkpointed blocks against reversible ones.

The network is starter-dit's with more or fewer blocks. Tensors are fake, and gradients of weights are dropped as they
arrive, so that the peak is that of activations and their gradients.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.architectures.table import Trunk
from mezzotint.families.family import Network
from mezzotint.memory.footprints.live_memory import LiveMemory
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training_protocol import Checkpointing

DEPTHS = (4, 8, 16, 32)
WAYS: tuple[tuple[Trunk, Checkpointing], ...] = (
    ("sequential", "none"),
    ("sequential", "blocks"),
    ("sequential", "sqrt"),
    ("reversible", "none"),
)
_WIDTH, _HEADS, _LATENT, _TOKENS = 192, 6, 16, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TrunkRow:
    """Peak bytes of activations in a step that trains all weights."""

    blocks: int
    trunk: Trunk
    checkpointing: Checkpointing
    peak_bytes: int

    @property
    def name(self) -> str:
        """What saves memory."""
        return self.trunk if self.trunk == "reversible" else self.checkpointing


def trunks(batch: int, counts: Sequence[int] = DEPTHS) -> Iterator[TrunkRow]:
    """The peak for each depth, in each way."""
    for blocks in counts:
        for trunk, mode in WAYS:
            peak = _peak(blocks, trunk, mode, batch)
            yield TrunkRow(blocks=blocks, trunk=trunk, checkpointing=mode, peak_bytes=peak)


def _peak(blocks: int, trunk: Trunk, mode: Checkpointing, batch: int) -> int:
    with FakeTensorMode():
        network = _network(blocks, trunk)
        for each in network.parameters():
            each.register_post_accumulate_grad_hook(_drop)
        undo = apply_checkpointing(network, mode)
        _step(network, batch)  # finds the segments
        memory = LiveMemory()
        with memory:
            _step(network, batch)
        undo()
    return memory.peak


def _drop(parameter: torch.Tensor) -> None:
    parameter.grad = None


def _network(blocks: int, trunk: Trunk) -> Network:
    return PixArtVariantTransformer2DModel.from_config(
        {
            "num_attention_heads": _HEADS,
            "attention_head_dim": _WIDTH // _HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "num_layers": blocks,
            "cross_attention_dim": _WIDTH,
            "caption_channels": _WIDTH,
            "sample_size": _LATENT,
            "use_additional_conditions": False,
            "architecture": {"trunk": trunk},
        }
    )


def _step(network: Network, batch: int) -> None:
    output = network(
        torch.empty(batch, 4, _LATENT, _LATENT),
        encoder_hidden_states=torch.empty(batch, _TOKENS, _WIDTH),
        timestep=torch.empty(batch),
        added_cond_kwargs={"resolution": None, "aspect_ratio": None},
        return_dict=False,
    )[0]
    output.square().mean().backward()
