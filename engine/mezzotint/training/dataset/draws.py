"""Random draws that depend on nothing but a key, so that a resumed training continues with the same ones."""

import hashlib
import json
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def generator(*key: int | str) -> random.Random:
    """A generator seeded by a key; only its `random()` is the same in every version of Python."""
    return random.Random(int.from_bytes(hashlib.sha256(json.dumps(key).encode()).digest()))


def shuffled(items: Sequence[T], draws: random.Random) -> list[T]:
    """The items in random order."""
    ranks = [draws.random() for _ in items]
    return [items[index] for index in sorted(range(len(items)), key=ranks.__getitem__)]
