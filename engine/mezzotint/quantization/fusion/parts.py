"""The layers of a block's attention and feed-forward that can include a norm before or a sum after."""

from typing import Any, TypeAlias

from torch import Tensor, nn

from mezzotint.quantization.fusion.around import Gated

Module: TypeAlias = Any  # a module of diffusers, which has no type annotations

# Processors that give what they are given to the projections as it is, and return what the last layer gives.
_DIRECT = {
    "AttnProcessor2_0",
    "SessionProcessor",
    "AcrossHeadsProcessor",
    "JointAttnProcessor2_0",
    "JointProcessor",
    "FluxAttnProcessor",
    "Flux2AttnProcessor",
    "Flux2ParallelSelfAttnProcessor",
    "QwenDoubleStreamAttnProcessor2_0",
    "ZSingleStreamAttnProcessor",
    "SanaAttnProcessor2_0",
    "SanaLinearAttnProcessor2_0",
    "Krea2AttnProcessor",
    "JoinedProcessor",
    "ParallelProcessor",
}
IMAGE = ("to_q", "to_k", "to_v")
TEXT = ("add_q_proj", "add_k_proj", "add_v_proj")


def readers(attention: Module, names: tuple[str, ...] = IMAGE) -> list[object]:
    """Layers that read the attention's input as it is given; empty if others do, too."""
    if not _is_direct(attention):
        return []
    found = [getattr(attention, name, None) for name in names]
    return [each for each in found if each is not None]


def last_of_attention(attention: Module) -> object:
    """The layer whose output is the attention's; None if it is changed afterwards."""
    if not _is_direct(attention):
        return None
    out = getattr(attention, "to_out", None)
    if isinstance(out, nn.ModuleList | nn.Sequential):
        return out[0] if all(map(_is_idle, list(out)[1:])) else None
    return out


def last_of_text(attention: Module) -> object:
    """The same for the text tokens of a joint attention."""
    return getattr(attention, "to_add_out", None) if _is_direct(attention) else None


def reader_of_feed_forward(feed: Module) -> list[object]:
    """The layer that reads a feed-forward's input; empty if it is not one of those known."""
    match type(feed).__name__:
        case "FeedForward" if hasattr(feed, "w1"):  # Z-Image's
            return [feed.w1, feed.w3]
        case "FeedForward":
            return [each for each in (getattr(feed.net[0], "proj", None),) if each is not None]
        case "Flux2FeedForward":
            return [feed.linear_in]
        case "Krea2SwiGLU":
            return [feed.gate, feed.up]
    return []


def gated_unit(feed: Module) -> Gated | None:
    """A feed-forward's gated linear unit by SiLU; None if it is not one of those known."""
    match type(feed).__name__:
        case "FeedForward" if hasattr(feed, "w1"):  # Z-Image's
            return Gated(layers=(feed.w3, feed.w1))
        case "Flux2FeedForward":
            return Gated(layers=(feed.linear_in,), gate_first=True)
        case "Krea2SwiGLU":
            return Gated(layers=(feed.up, feed.gate))
    return None


def last_of_feed_forward(feed: Module) -> object:
    """The layer whose output is the feed-forward's; None if it is changed afterwards."""
    match type(feed).__name__:
        case "FeedForward" if hasattr(feed, "w1"):
            return feed.w2
        case "FeedForward":
            return feed.net[2] if len(feed.net) > 2 and all(map(_is_idle, feed.net[3:])) else None
        case "Flux2FeedForward":
            return feed.linear_out
        case "Krea2SwiGLU":
            return feed.down
    return None


def modulations(norm: Module, embedding: Tensor, count: int) -> list[Tensor]:
    """An adaptive norm's values `(b, 1, c)`: by its own layer, or as the embedding has them (Chroma)."""
    values = norm.linear(norm.silu(embedding)) if hasattr(norm, "linear") else embedding.flatten(1, 2)
    return [each[:, None] for each in values.chunk(count, dim=1)]


def _is_direct(attention: Module) -> bool:
    if type(getattr(attention, "processor", None)).__name__ not in _DIRECT:
        return False
    changes = (getattr(attention, name, None) for name in ("spatial_norm", "group_norm", "residual_connection"))
    return not any(each for each in changes) and getattr(attention, "rescale_output_factor", 1) == 1


def _is_idle(module: nn.Module) -> bool:
    return isinstance(module, nn.Identity) or (
        isinstance(module, nn.Dropout) and (module.p == 0 or not module.training)
    )
