"""Deep shrink: a U-Net computes at a fraction of the size below its first level, early in the schedule.

The composition of large images is then made at the size that the model was trained for. After Kohya's Deep Shrink,
https://gist.github.com/kohya-ss/3f774da220df102548093a7abc8538ed
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from mezzotint.values.speed import DeepShrink

Unet = Any  # diffusers has no types


class ShrunkFeatures:
    """Whether features are shrunk in the current step."""

    def __init__(self, how: DeepShrink) -> None:
        self._factor, self._until = how
        self.active = False

    def begin_step(self, done: float) -> None:
        """Begin a step of which this part of the schedule, 0 to 1, is done."""
        self.active = self._factor > 1 and done < self._until

    def shrink(self, outputs: tuple[Tensor, tuple[Tensor, ...]]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The output `(b, c, h, w)` of the first level and its skip connections, of which the last is the same."""
        sample, skips = outputs
        small = resized(sample, [max(1, round(side / self._factor)) for side in sample.shape[-2:]])
        return small, (*skips[:-1], small)


@contextmanager
def shrinking(network: Unet, how: DeepShrink) -> Iterator[ShrunkFeatures]:
    """Shrink the features of a U-Net in this context, in the steps that are begun early enough."""
    state = ShrunkFeatures(how)
    with ExitStack() as hooks:
        down = network.down_blocks[0].register_forward_hook(
            lambda _, __, outputs: state.shrink(outputs) if state.active else outputs
        )
        hooks.callback(down.remove)
        for block in network.up_blocks:
            hooks.callback(block.register_forward_pre_hook(_grown, with_kwargs=True).remove)
        yield state


def _grown(_: object, args: tuple[Any, ...], words: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Resize the input of a level to the size of its skip connections."""
    sample, size = words["hidden_states"], words["res_hidden_states_tuple"][-1].shape[-2:]
    if sample.shape[-2:] == size:
        return None
    return args, {**words, "hidden_states": resized(sample, list(size))}


def resized(sample: Tensor, size: list[int]) -> Tensor:
    """Resize features `(b, c, h, w)` bicubically; `interpolate` rounds otherwise where memory is counted."""
    made: Tensor = torch.ops.aten.upsample_bicubic2d(sample, size, False)
    return made
