"""python -m kernel_build.card.worker PART [--stub] [WORD ...]: a part's process; items already done come on stdin."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence

from kernel_build.card.protocol import AGAIN, Row, Teller

KINDS = (
    *("tests", "small_set", "attention", "backward", "kernelized", "decoding", "linear"),
    *("fused", "sweep", "streaming", "memory"),
)


class CardTeller(Teller):
    """A Teller that exits for another process to continue once the GPU is unusable in this one."""

    def row(self, row: Row) -> None:
        """Report a row; after a failure, check that the GPU still computes."""
        super().row(row)
        if row.outcome == "failed" and card_is_lost():
            sys.stdout.flush()
            os._exit(AGAIN)  # an orderly shutdown is impossible now


def card_is_lost() -> bool:
    """Whether every CUDA call fails, as happens in a process after some errors."""
    import torch

    if not torch.cuda.is_available():
        return False
    try:
        return torch.ones(1, device="cuda").item() != 1
    except RuntimeError:
        return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a part's items, except those already done."""
    parser = argparse.ArgumentParser(prog="python -m kernel_build.card.worker", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--stub", action="store_true")
    options = parser.parse_args(arguments)
    done = json.loads(sys.stdin.read() or "[]")
    module = importlib.import_module(f"kernel_build.card.workers.{options.kind}")
    teller = Teller(done) if options.stub else CardTeller(done)
    return int(module.run(teller, options.words, options.stub) or 0)


if __name__ == "__main__":
    sys.exit(main())
