"""A teacher for a variant: the dense transformer that it begins as, whose predictions it is to match."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import torch
from diffusers import PixArtTransformer2DModel
from torch import Tensor, nn
from torch.nn import functional

Predict: TypeAlias = Callable[[PixArtTransformer2DModel], Tensor]


class Teacher:
    """Compares a student's predictions with the dense network's and, if asked, what each block returns.

    Threads that share the networks are kept apart.
    """

    def __init__(self, dense: PixArtTransformer2DModel) -> None:
        self._dense = dense.requires_grad_(False).eval()
        self._told, self._found = _Outputs(), _Outputs()

    @contextmanager
    def comparing_blocks(self, student: PixArtTransformer2DModel) -> Iterator[None]:
        """Context manager: what the student's blocks return is compared, too; it has as many as the dense network."""
        watched = [
            *self._told.watch(self._dense.transformer_blocks),
            *self._found.watch(student.transformer_blocks, only_learning=True),
        ]
        try:
            yield
        finally:
            for handle in watched:
                handle.remove()

    def difference(self, predicted: Tensor, predict: Predict) -> Tensor:
        """Mean squared difference of the student's last prediction, plus the blocks' mean, relative to their outputs.

        `predict` returns another network's prediction for the same inputs.
        """
        with torch.no_grad():
            told = predict(self._dense)
        loss = functional.mse_loss(predicted, told)
        pairs = list(zip(self._found.taken(), self._told.taken(), strict=True))
        if not pairs:
            return loss
        relative = [functional.mse_loss(found, wanted) / wanted.square().mean() for found, wanted in pairs]
        return loss + torch.stack(relative).mean()


class _Outputs(threading.local):
    """What blocks returned in this thread since it was last taken."""

    def __init__(self) -> None:
        self._kept: list[Tensor] = []

    def watch(
        self, blocks: Sequence[nn.Module] | nn.ModuleList, *, only_learning: bool = False
    ) -> Iterator[torch.utils.hooks.RemovableHandle]:
        """Keep what blocks return from now on, or only what is computed with gradients."""

        def keep(_: nn.Module, __: object, output: Tensor) -> None:
            if torch.is_grad_enabled() or not only_learning:
                self._kept.append(output)

        for block in blocks:
            yield block.register_forward_hook(keep)

    def taken(self) -> list[Tensor]:
        """Return it."""
        kept, self._kept = self._kept, []
        return kept
