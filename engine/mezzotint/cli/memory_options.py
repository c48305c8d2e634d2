"""The words about memory that several commands share."""

import argparse
from typing import get_args

from mezzotint.cli.argument_types import card_memory, integer, memory_size
from mezzotint.protocol import MemoryPolicy

POLICY_HELP = (
    "auto: the best quality that is not much slower; fast: the least time; balanced: less patience for quality; "
    "lowest: the least device memory (default: auto)"
)


def add_memory_options(group: argparse._ArgumentGroup) -> None:
    """How much memory may be used, and for what."""
    group.add_argument("--memory", choices=get_args(MemoryPolicy), help=POLICY_HELP)
    group.add_argument(
        "--vram-limit",
        metavar="SIZE|CARD",
        type=lambda words: card_memory(words)[0],
        help="use no more device memory than this, such as 6GB, or than a card has, such as 'RTX 3060'; on a CPU a "
        "card of that size is simulated",
    )
    group.add_argument("--ram-limit", metavar="SIZE", type=memory_size, help="plan with no more RAM than this")
    group.add_argument(
        "--vae-tile",
        metavar="PIXELS",
        type=integer(0, 8192, 512),
        help="decode in squares of that side, in less memory; 0: whole (default: as the plan has it)",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="where memory runs short, stop rather than change the picture (smaller tiles, lower precision)",
    )
