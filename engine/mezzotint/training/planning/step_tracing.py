"""Trace the memory of a training step, and of encoding an image, without weights."""

from typing import Any

import torch
from torch import Tensor

from mezzotint.families.autoencoder import encode_pixels
from mezzotint.families.family import Network
from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.memory.footprints.forward_calls import Call, known_call
from mezzotint.memory.footprints.live_memory import LiveMemory, counted
from mezzotint.memory.footprints.tracing import HALF, faked
from mezzotint.quantization.layers import layers_of, swap_in
from mezzotint.quantization.policy import Choice, formats_for
from mezzotint.training.adapters.layers import LayerChoice
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.offloading import offloading
from mezzotint.training_protocol import Checkpointing


def traced_step(
    network: Network,
    call: Call,
    *,
    side: int,
    batch: int,
    tokens: int,
    rank: int,
    checkpointing: Checkpointing,
    offloads: bool = False,
    dtype: torch.dtype = HALF,
) -> int:
    """Peak bytes of activations in the forward and backward pass; `side` in latents, `tokens` of the prompt.

    The network must have no weights, and is unusable afterwards. The factors' gradients exist before, and do not count.
    """
    with faked(network, dtype):
        factors = NetworkAdapter({"": network}, {"": LayerChoice(rank=rank, alpha=rank)}, seed=None)
        for each in factors.parameters():
            each.grad = torch.zeros_like(each)
        saved = offloading(torch.device("cpu")) if offloads else None
        undo, memory = apply_checkpointing(network, checkpointing, saved), LiveMemory()
        try:
            with factors.attached(), memory:
                loss = _predicted(call(network, side, batch, tokens)).float().square().mean()
                torch.autograd.backward(loss)  # not Tensor.backward, which would leave function modes
        finally:
            undo()
    return memory.peak


def traced_encoding(network: Network, width: int, height: int) -> int:
    """Peak bytes of activations when an autoencoder without weights encodes an image, in float32; sizes in pixels."""
    with faked(network, torch.float32), torch.no_grad():
        memory = LiveMemory()
        with memory:
            encode_pixels(network, torch.empty(1, 3, height, width), None)
    return memory.peak


def traced_text(network: Network, class_name: str, tokens: int) -> int:
    """Peak bytes of activations when a text encoder without weights encodes a caption, in float32."""
    with faked(network, torch.float32), counted() as memory:
        known_call(class_name, network, tokens, 1, tokens)
    return memory.peak


def quantized_empty(network: Network, scheme: Scheme) -> Network:
    """Replace the layers of a network without weights as the scheme does; raises ModelRefused if it fits none."""
    if scheme != "none":
        swap_in(network, formats_for(type(network).__name__, layers_of(network), Choice(scheme=scheme)))
    return network


def _predicted(output: Any) -> Tensor:  # noqa: ANN401
    """The prediction in what a network returns: a tensor, in a tuple, or in a dataclass, or a list of them."""
    if isinstance(output, Tensor):
        return output
    first = output[0] if isinstance(output, tuple | list) else output.sample
    return _predicted(first)
