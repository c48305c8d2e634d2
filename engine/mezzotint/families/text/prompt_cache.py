"""Cache of a model's encoded prompts for later images, since batches repeat them."""

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mezzotint.families.family import Conditioning

ROOM = 2**27  # bytes of RAM: twenty T5 prompts of maximum length, two hundred CLIP prompts


class PromptCache:
    """Conditionings in RAM, whatever the model's device; evicts the least recently used first.

    On a simulated GPU, they do not count towards its memory.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: dict[Hashable, Conditioning] = {}

    def __len__(self) -> int:
        """Number of cached prompts."""
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(map(_bytes, self._kept.values()))

    def get(self, key: Hashable) -> "Conditioning | None":
        """The conditioning for a key, in RAM; None if not cached."""
        found = self._kept.pop(key, None)
        if found is not None:
            self._kept[key] = found
        return found

    def put(self, key: Hashable, conditioning: "Conditioning") -> None:
        """Store a copy, unless it is larger than the whole cache."""
        from mezzotint.memory.accounting import uncounted

        if _bytes(conditioning) > self._room:
            return
        with uncounted():
            tensors = {name: tensor.to("cpu", copy=True) for name, tensor in conditioning.tensors.items()}
        self._kept.pop(key, None)
        self._kept[key] = replace(conditioning, tensors=tensors)
        while self.bytes > self._room:
            del self._kept[next(iter(self._kept))]


def _bytes(conditioning: "Conditioning") -> int:
    return sum(tensor.nbytes for tensor in conditioning.tensors.values())
