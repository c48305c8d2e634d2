"""A compact set for detecting duplicates among very many texts: a job of a million images takes 16 MB."""

import hashlib
from array import array

_SMALLEST = 1024


class Seen:
    """A set of texts, by 63 bits of their hash: for a million texts, a false match has a chance of 1 in 10 million."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _SMALLEST))
        self._count = 0

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new."""
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return self._put(int.from_bytes(digest, "big") | 1)  # never 0, which is an empty slot

    def _put(self, number: int) -> bool:
        mask = len(self._slots) - 1
        at = (number >> 1) & mask
        while self._slots[at]:
            if self._slots[at] == number:
                return False
            at = (at + 1) & mask
        self._slots[at] = number
        self._count += 1
        if 3 * self._count > 2 * len(self._slots):
            self._grow()
        return True

    def _grow(self) -> None:
        old, self._slots, self._count = self._slots, array("Q", bytes(16 * len(self._slots))), 0
        for number in old:
            if number:
                self._put(number)
