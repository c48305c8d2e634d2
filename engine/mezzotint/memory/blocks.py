"""Find a network's blocks, the units of streaming, and their execution order."""

from collections.abc import Callable, Iterator

from torch import nn

# Matched by class name, so that no library has to be imported.
_BLOCKS = frozenset(
    {
        # diffusers
        "BasicTransformerBlock",
        "ResnetBlock2D",
        "Downsample2D",
        "Upsample2D",
        "FluxTransformerBlock",
        "FluxSingleTransformerBlock",
        "JointTransformerBlock",
        "QwenImageTransformerBlock",
        "QwenImageResidualBlock",
        "QwenImageResample",
        "IPAdapterPlusImageProjectionBlock",
        # our own, in families/architectures
        "ModulatedBlock",
        "ReversibleBlock",
        # and in families/control
        "ImageKeysValues",
        # transformers
        "CLIPEncoderLayer",
        "T5Block",
        "Qwen2_5_VLDecoderLayer",
        "Qwen2_5_VLVisionBlock",
    }
)


def blocks_of(network: nn.Module) -> tuple[str, ...]:
    """Return the names of the blocks, none inside another, in registration order, not execution order.

    Blocks are modules of known classes or, in networks without any, the elements of the outermost module lists.
    """
    return tuple(_known(network, "")) or tuple(_listed(network, ""))


def order_of(network: nn.Module, blocks: tuple[str, ...], run: Callable[[], object]) -> tuple[str, ...]:
    """Return the blocks that `run` executes, in order of first execution; others are left out."""
    order: list[str] = []

    def entered(name: str) -> None:
        if name not in order:
            order.append(name)

    handles = [
        network.get_submodule(name).register_forward_pre_hook(lambda *_, name=name: entered(name)) for name in blocks
    ]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return tuple(order)


def _known(module: nn.Module, name: str) -> Iterator[str]:
    for child_name, child in module.named_children():
        full = f"{name}.{child_name}" if name else child_name
        if type(child).__name__ in _BLOCKS:
            yield full
        else:
            yield from _known(child, full)


def _listed(module: nn.Module, name: str) -> Iterator[str]:
    for child_name, child in module.named_children():
        full = f"{name}.{child_name}" if name else child_name
        if isinstance(child, nn.ModuleList):
            yield from (f"{full}.{index}" for index in range(len(child)))
        else:
            yield from _listed(child, full)
