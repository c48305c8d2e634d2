"""Residual blocks of U-Nets and autoencoders with GroupNorm and SiLU in one call, and the norms before attention.

Each function computes what diffusers' own `forward` does, with the same modules, and is tested against it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from diffusers.models.resnet import ResnetBlock2D
from torch import Tensor, nn

from mezzotint.normalization.session import GroupNormSession

_ADDED = {"default": True, "group": False}  # whether a block of this kind adds embeddings of the timestep
_BEFORE_ATTENTION = {"Attention": "group_norm", "Transformer2DModel": "norm"}  # by class name: imports take long
Module: TypeAlias = Any  # of diffusers, which has no type annotations


@contextmanager
def normalizing(session: GroupNormSession, networks: Iterable[object]) -> Iterator[None]:
    """Compute GroupNorms that SiLU or attention follows by the session, inside the context."""
    modules: list[Module] = [
        each for network in networks if isinstance(network, nn.Module) for each in network.modules()
    ]
    changed = list(_forwards(session, modules))
    for module, forward in changed:
        module.forward = forward
    try:
        yield
    finally:
        for module, _ in changed:
            module.__dict__.pop("forward", None)


def _forwards(session: GroupNormSession, modules: Iterable[Module]) -> Iterator[tuple[Module, Callable[..., Tensor]]]:
    """What is computed otherwise, and how."""
    for each in modules:
        norm = _attention_norm(each)
        if norm is not None:
            yield norm, partial(session.norm, norm)
        if type(each) is ResnetBlock2D and _is_usual(each):
            yield each, partial(_block, session, each)
        if _has_usual_end(each):
            yield each.conv_norm_out, partial(_end, session, each.conv_norm_out, nn.SiLU())
            yield each.conv_act, _passed_on


def is_normalized(network: object) -> bool:
    """Whether `normalizing` changes something in a network."""
    modules = network.modules() if isinstance(network, nn.Module) else ()
    return any((type(each) is ResnetBlock2D and _is_usual(each)) or _has_usual_end(each) for each in modules)


def _is_usual(block: Module) -> bool:
    """Whether SiLU follows both norms directly, and no one else has changed the block."""
    samples = block.upsample is not None or block.downsample is not None
    plain = type(block.norm1) is type(block.norm2) is nn.GroupNorm and type(block.nonlinearity) is nn.SiLU
    usual = plain and not samples and block.time_embedding_norm in _ADDED
    return usual and "forward" not in vars(block)


def _has_usual_end(network: Module) -> bool:
    """Whether the network ends with a GroupNorm and SiLU."""
    norm, activation = getattr(network, "conv_norm_out", None), getattr(network, "conv_act", None)
    usual = type(norm) is nn.GroupNorm and type(activation) is nn.SiLU
    return usual and not any("forward" in vars(each) for each in (norm, activation))


def _attention_norm(layer: Module) -> nn.GroupNorm | None:
    """The GroupNorm of pixels that attention follows, of an autoencoder or a U-Net."""
    name = _BEFORE_ATTENTION.get(type(layer).__name__)
    norm = None if name is None else getattr(layer, name, None)
    return norm if type(norm) is nn.GroupNorm and "forward" not in vars(norm) else None


def _block(
    session: GroupNormSession, block: Module, input_tensor: Tensor, temb: Tensor | None, *_: object, **__: object
) -> Tensor:
    """ResnetBlock2D of the usual kind."""
    input_tensor = session.in_layout(input_tensor)
    hidden = block.conv1(session.norm_silu(block.norm1, block.nonlinearity, input_tensor))
    if block.time_emb_proj is not None and temb is not None:
        temb = temb if block.skip_time_act else block.nonlinearity(temb)
        temb = block.time_emb_proj(temb)[:, :, None, None]
    if temb is not None and _ADDED[block.time_embedding_norm]:
        hidden = hidden + temb
    hidden = session.norm_silu(block.norm2, block.nonlinearity, hidden)
    hidden = block.conv2(block.dropout(hidden))
    if block.conv_shortcut is not None:
        input_tensor = block.conv_shortcut(input_tensor)
    out: Tensor = (input_tensor + hidden) / block.output_scale_factor
    return out


def _end(session: GroupNormSession, norm: nn.GroupNorm, activation: nn.Module, x: Tensor) -> Tensor:
    return session.norm_silu(norm, activation, session.in_layout(x))


def _passed_on(x: Tensor) -> Tensor:
    return x
