"""python -m kernel_build.card.worker PART [--stub] [WORD ...]: the process of a part; what is done stands on stdin."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence

from kernel_build.card.protocol import AGAIN, Row, Teller

KINDS = ("tests", "small_set", "attention", "linear", "sweep", "streaming", "memory")


class CardTeller(Teller):
    """Leaves what is left to another process once the card is of no use to this one."""

    def row(self, row: Row) -> None:
        """A row; after one that went wrong the card is asked whether it still computes."""
        super().row(row)
        if row.outcome == "failed" and card_is_lost():
            sys.stdout.flush()
            os._exit(AGAIN)  # nothing that would be ended in order can be


def card_is_lost() -> bool:
    """Whether CUDA answers everything with an error, as it does in a process after some of them."""
    import torch

    if not torch.cuda.is_available():
        return False
    try:
        return torch.ones(1, device="cuda").item() != 1
    except RuntimeError:
        return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Do a part's items, but for those that are done."""
    parser = argparse.ArgumentParser(prog="python -m kernel_build.card.worker", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--stub", action="store_true")
    options = parser.parse_args(arguments)
    done = json.loads(sys.stdin.read() or "[]")
    module = importlib.import_module(f"kernel_build.card.{options.kind}_worker")
    teller = Teller(done) if options.stub else CardTeller(done)
    return int(module.run(teller, options.words, options.stub) or 0)


if __name__ == "__main__":
    sys.exit(main())
