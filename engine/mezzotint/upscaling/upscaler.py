"""An upscaler: a network and what it needs of an image."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True, kw_only=True)
class Upscaler:
    """A network from images `(1, 3, h, w)` in 0..1 to `(1, 3, s h, s w)`."""

    network: nn.Module
    scale: int
    architecture: str
    multiple: int = 1  # sides of its input are multiples of this many pixels
    smallest: int = 1  # and at least this many
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.bfloat16, torch.float16)

    def dtype(self, wanted: torch.dtype) -> torch.dtype:
        """The dtype that it runs in: the wanted one where the architecture can."""
        return wanted if wanted in self.dtypes else self.dtypes[0]
