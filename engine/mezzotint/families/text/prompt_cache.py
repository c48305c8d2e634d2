"""Encoded prompts of a model, kept for later images: batches repeat the same ones."""

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mezzotint.families.family import Conditioning

ROOM = 2**27  # bytes of RAM: twenty prompts of T5 at its longest, two hundred of CLIP


class PromptCache:
    """Conditioning in RAM, wherever its model works; what was asked for longest ago goes first.

    On a simulated card it counts as what it is: no part of the card.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: dict[Hashable, Conditioning] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(map(_bytes, self._kept.values()))

    def get(self, key: Hashable) -> "Conditioning | None":
        """That of a key, in RAM; None: it is not known."""
        found = self._kept.pop(key, None)
        if found is not None:
            self._kept[key] = found
        return found

    def put(self, key: Hashable, conditioning: "Conditioning") -> None:
        """Keep a copy, unless it would take all the room there is."""
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
