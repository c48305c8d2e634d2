"""What is trained while a network learns to do without some of its blocks."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from mezzotint.families.family import LoadedModel
from mezzotint.training.adapters.layers import LayerChoice
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.skipping import SkippableBlocks


class HealingAdapter(NetworkAdapter):
    """LoRAs of a network that runs without some of its blocks while they are attached."""

    def __init__(
        self,
        model: LoadedModel,
        component: str,
        rank: int,
        blocks: SkippableBlocks,
        removed: Sequence[str],
        seed: int,
    ) -> None:
        choice = LayerChoice(layers="all", rank=rank, alpha=rank)
        super().__init__(model.networks, {component: choice}, seed=seed)
        self.to(model.device)
        self._skipping = partial(blocks.skipping, removed)

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Context manager: the network computes with the LoRAs, and without the blocks."""
        with super().attached(), ExitStack() as self._skipped:
            self._skipped.enter_context(self._skipping())
            yield

    @contextmanager
    def detached(self) -> Iterator[None]:
        """Context manager: while attached, the network computes as the original."""
        self._skipped.close()
        try:
            with super().detached():
                yield
        finally:
            self._skipped.enter_context(self._skipping())
