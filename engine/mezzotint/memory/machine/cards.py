"""Known GPUs by product name, so that a plan can be made for one that is not installed.

Multiprocessors (for AMD as counted by torch, for Intel Xe cores) and memory are from the manufacturers' data sheets.
The speed of a laptop GPU depends on its power limit; the speed expected here is that of the highest one.
"""

import re
from dataclasses import dataclass, replace

_LAPTOP = re.compile(r"\b(?:mobile|max-q|notebook)\b")  # other words for a laptop's card
_MAKERS = re.compile(r"\b(?:nvidia|geforce|amd|radeon|intel|card|gpu|a)\b|[\s_-]+")
_SIZED = re.compile(r"(.*?)([0-9]{1,3})\s*gb", re.IGNORECASE)
_GB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCard:
    """The data of a GPU that planning needs."""

    name: str
    architecture: str
    processors: int
    vram_bytes: int


def _cards(architecture: str, *told: tuple[str, int, int]) -> tuple[KnownCard, ...]:
    """Cards of one generation, from name, multiprocessors and GB."""
    return tuple(
        KnownCard(name=name, architecture=architecture, processors=processors, vram_bytes=gigabytes * _GB)
        for name, processors, gigabytes in told
    )


CARDS = (
    *_cards("sm_75", ("RTX 2060", 30, 6), ("RTX 2070", 36, 8), ("RTX 2080", 46, 8), ("RTX 2080 Ti", 68, 11)),
    *_cards("sm_75", ("T4", 40, 16)),
    *_cards("sm_80", ("A100", 108, 80)),
    *_cards("sm_86", ("RTX 3050", 20, 8), ("RTX 3060", 28, 12), ("RTX 3060 Ti", 38, 8), ("RTX 3070", 46, 8)),
    *_cards("sm_86", ("RTX 3080", 68, 10), ("RTX 3080 Ti", 80, 12), ("RTX 3090", 82, 24), ("RTX 3090 Ti", 84, 24)),
    *_cards("sm_89", ("RTX 4060", 24, 8), ("RTX 4060 Ti", 34, 8), ("RTX 4070", 46, 12), ("RTX 4070 Super", 56, 12)),
    *_cards("sm_89", ("RTX 4070 Ti", 60, 12), ("RTX 4070 Ti Super", 66, 16), ("RTX 4080", 76, 16)),
    *_cards("sm_89", ("RTX 4080 Super", 80, 16), ("RTX 4090", 128, 24), ("L4", 58, 24), ("L40S", 142, 48)),
    *_cards("sm_75", ("RTX 2060 Laptop", 30, 6), ("RTX 2070 Laptop", 36, 8), ("RTX 2080 Laptop", 46, 8)),
    *_cards("sm_86", ("RTX 3050 Laptop", 16, 4), ("RTX 3050 Ti Laptop", 20, 4), ("RTX 3060 Laptop", 30, 6)),
    *_cards("sm_86", ("RTX 3070 Laptop", 40, 8), ("RTX 3080 Laptop", 48, 8), ("RTX 3080 Ti Laptop", 58, 16)),
    *_cards("sm_89", ("RTX 4050 Laptop", 20, 6), ("RTX 4060 Laptop", 24, 8), ("RTX 4070 Laptop", 36, 8)),
    *_cards("sm_89", ("RTX 4080 Laptop", 58, 12), ("RTX 4090 Laptop", 76, 16)),
    *_cards("sm_90", ("H100", 132, 80), ("H200", 132, 141)),
    *_cards("sm_100", ("B200", 148, 180)),
    *_cards("sm_103", ("B300", 148, 270)),
    *_cards("sm_120", ("RTX 5060", 30, 8), ("RTX 5060 Ti", 36, 16), ("RTX 5070", 48, 12), ("RTX 5070 Ti", 70, 16)),
    *_cards("sm_120", ("RTX 5080", 84, 16), ("RTX 5090", 170, 32)),
    *_cards("sm_120", ("RTX 5060 Laptop", 26, 8), ("RTX 5070 Laptop", 36, 8), ("RTX 5070 Ti Laptop", 46, 12)),
    *_cards("sm_120", ("RTX 5080 Laptop", 60, 16), ("RTX 5090 Laptop", 82, 24)),
    *_cards("gfx1030", ("RX 6800 XT", 36, 16)),
    *_cards("gfx1100", ("RX 7900 XTX", 48, 24)),
    *_cards("gfx1201", ("RX 9070 XT", 32, 16)),
    *_cards("xe", ("Arc A770", 32, 16)),
)
_BY_NAME = {_MAKERS.sub("", card.name.lower()): card for card in CARDS}


def known_card(words: str) -> KnownCard | None:
    """Return the GPU of this name, with or without its maker's, and with the amount of memory if it is given.

    For example `RTX 4090`, `geforce rtx4060ti 16GB`. None if it is not in the table.
    """
    words = _LAPTOP.sub("laptop", words.lower())
    card = _BY_NAME.get(_MAKERS.sub("", words))
    sized = _SIZED.fullmatch(words.strip())
    if card is not None or sized is None:
        return card
    card = _BY_NAME.get(_MAKERS.sub("", sized[1].lower()))
    return None if card is None else replace(card, vram_bytes=int(sized[2]) * _GB)
