"""The words about memory that several commands share."""

import argparse
from typing import get_args

from mezzotint.cli.argument_types import card_memory, integer, memory_size
from mezzotint.protocol import MemoryPolicy

POLICY_HELP = (
    "auto: the best quality that is not much slower; fast: the shortest time; balanced: between the two; "
    "lowest: the least VRAM (default: auto)"
)


def add_memory_options(group: argparse._ArgumentGroup) -> None:
    """How much memory may be used, and for what."""
    group.add_argument("--memory", choices=get_args(MemoryPolicy), help=POLICY_HELP)
    group.add_argument(
        "--vram-limit",
        metavar="SIZE|CARD",
        type=lambda words: card_memory(words)[0],
        help="use at most this much VRAM, such as 6GB, or as much as a card has, such as 'RTX 3060'; on a CPU a card "
        "of that size is simulated",
    )
    group.add_argument("--ram-limit", metavar="SIZE", type=memory_size, help="use at most this much RAM")
    group.add_argument(
        "--vae-tile",
        metavar="PIXELS",
        type=integer(0, 8192, 512),
        help="tile size for VAE decoding, which takes less memory; 0: no tiles (default: as planned)",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="when memory runs out, fail rather than change the image (smaller tiles, lower precision)",
    )
