"""Which parts of a network are blocks, the unit of streaming, and in which order they run."""

from collections.abc import Callable, Iterator

from torch import nn

# Known by the names of their classes, so that no library has to be imported to find them.
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
        # transformers
        "CLIPEncoderLayer",
        "T5Block",
        "Qwen2_5_VLDecoderLayer",
        "Qwen2_5_VLVisionBlock",
    }
)


def blocks_of(network: nn.Module) -> tuple[str, ...]:
    """Names of modules, none of which lies in another, as they are registered: not as they run.

    Of classes that are known; in networks without any, the elements of the outermost lists.
    """
    return tuple(_known(network, "")) or tuple(_listed(network, ""))


def order_of(network: nn.Module, blocks: tuple[str, ...], run: Callable[[], object]) -> tuple[str, ...]:
    """The blocks that `run` passes through, in the order in which it first does; the others are left out."""
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
