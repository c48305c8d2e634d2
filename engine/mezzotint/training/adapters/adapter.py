"""The interface of everything that can be trained."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Tensor, nn

from mezzotint.families.lora.description import Description
from mezzotint.families.text.textual_inversion import Inversion


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Parameters with a learning rate of their own."""

    parameters: Sequence[Tensor]
    share: float = 1.0  # of the training's learning rate
    decays: bool = True  # whether the optimizer's weight decay applies


class Adapter(Protocol):
    """Parameters in float32 that change what frozen networks compute."""

    @property
    def module(self) -> nn.Module:
        """The parameters as torch's distributed training takes them, which may replace them by parts."""

    @property
    def words(self) -> tuple[Inversion, ...]:
        """Words that are learned."""

    @property
    def changes_text(self) -> bool:
        """Whether encoded captions depend on the parameters, so that they cannot be kept."""

    def named(self) -> Mapping[str, Tensor]:
        """All parameters by name, always in the same order."""

    def parameters(self) -> list[Tensor]:
        """All parameters, in that order."""

    def groups(self) -> Sequence[Group]:
        """The same by learning rate."""

    def attached(self) -> AbstractContextManager[None]:
        """Context manager: the networks compute with the parameters."""

    def detached(self) -> AbstractContextManager[None]:
        """Context manager: attached networks compute without the parameters."""

    def write(self, path: Path, family: str, description: Description, *, overwrite: bool) -> None:
        """Write a file that other programs read; raises UsageError as `write_lora` does."""
