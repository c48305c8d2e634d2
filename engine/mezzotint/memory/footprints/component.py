"""The footprint of one network, traced on a network without memory for its weights."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import nn

from mezzotint.acceleration.text_cache import kept_width
from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.footprints.footprint import ComponentFootprint, Role, ScalingLaw
from mezzotint.memory.footprints.forward_calls import Call, can_trace, is_text, used_part
from mezzotint.memory.footprints.tracing import trace
from mezzotint.memory.footprints.weight_bytes import weight_bytes


def component_footprint(
    network: nn.Module,
    *,
    name: str,
    class_name: str,
    tokens: int,
    call: Call | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> ComponentFootprint:
    """Count a network's weights and trace it; the network, whose weights have no memory, is unusable afterwards.

    `call`: how to call the network; None: as known for its class.

    Blocks are in execution order. Blocks that are never executed count as outside, as do all those of an autoencoder,
    which is never streamed because its activations are many times larger than its weights.
    """
    prefix = used_part(class_name)
    part = network.get_submodule(prefix)
    found = tuple(block for block in blocks_of(network) if not prefix or block.startswith(f"{prefix}."))
    inside = () if role_of(class_name) == "vae" else found
    lead = f"{prefix}." if prefix else ""
    counted = weight_bytes(part, class_name, tuple(block.removeprefix(lead) for block in inside))
    sizes = {lead + block.name: replace(block, name=lead + block.name) for block in counted.blocks}
    live, work, order = ScalingLaw(), ScalingLaw(), tuple(sizes)
    if call is not None or can_trace(class_name):
        traced = trace(network, class_name, tokens, on_progress, call=call)
        live, work, order = traced.live, traced.work, tuple(block for block in traced.order if block in sizes)
    role = role_of(class_name)
    kept = kept_width(part) if role in ("denoiser", "control") else 0
    idle = [sizes[block].bytes for block in sizes if block not in order]
    return ComponentFootprint(
        name=name,
        role=role,
        class_name=class_name,
        blocks=tuple(sizes[block] for block in order),
        outside={scheme: size + sum(each[scheme] for each in idle) for scheme, size in counted.outside.items()},
        live=live,
        work=work,
        kept_text=kept,
        given=_given(network.config) if role == "control" else 0.0,
    )


def role_of(class_name: str) -> Role:
    """Return the role of a network class."""
    if class_name.startswith("Autoencoder"):
        return "vae"
    if "ControlNet" in class_name or class_name == "T2IAdapter":
        return "control"
    return "text" if is_text(class_name) else "denoiser"


def _given(config: Any) -> float:  # noqa: ANN401  diffusers has no types
    """Numbers per latent pixel that a control network adds to a U-Net: of its layers, each level at half the sides."""
    if config.get("joint_attention_dim") is not None:  # of a transformer, whose tokens are 2x2 latent pixels
        blocks = config.num_layers + config.get("num_single_layers", 0)
        return float(blocks * config.num_attention_heads * config.attention_head_dim / 4)
    if config.get("control_layers_places") is not None:
        return float(len(config.control_layers_places) * config.dim / 4)
    if config.get("adapter_type") is not None:
        is_xl = config.adapter_type == "full_adapter_xl"  # which begins at half the sides, and shrinks once
        widths = [*config.channels, *config.channels[-1:]]  # at most
        return float(sum(width / 4 ** (1 + (level > 1) if is_xl else level) for level, width in enumerate(widths)))
    widths, layers = config.block_out_channels, config.layers_per_block
    of_levels = (
        (layers * width + (width / 4 if level < len(widths) - 1 else 0)) / 4**level  # the last does not shrink further
        for level, width in enumerate(widths)
    )
    return float(widths[0] + sum(of_levels) + widths[-1] / 4 ** (len(widths) - 1))
