"""python -m mezzotint_starter: train the bundled models and their judge from scratch, or resume training."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mezzotint.errors import MezzotintError
from mezzotint_starter.plan import Plan, miniature
from mezzotint_starter.precision import choose_precision
from mezzotint_starter.recipe import MODELS, run

PHASES = (
    "autoencoder",
    "perception",
    "sharpening",
    "reading",
    "denoiser",
    "base",
    "refiner",
    "flow",
    "flow-large",
    "judge",
)


def parser() -> argparse.ArgumentParser:
    """Return the command's argument parser."""
    options = argparse.ArgumentParser(prog="python -m mezzotint_starter", description=__doc__)
    options.add_argument("--device", default="cpu", help="cpu or cuda")
    options.add_argument("--steps", type=int, help="run only this many steps of every phase, as a trial")
    options.add_argument("--work", type=Path, default=Path("build/starter"), help="folder of training states")
    options.add_argument(
        "--out", type=Path, help="output folder, with a subfolder for each model (default: WORK/models)"
    )
    options.add_argument("--only", choices=MODELS, help="train only this one")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--parts",
        type=int,
        help="threads that share each batch (default: the number of CPU cores, at most 4; 1 on a GPU)",
    )
    options.add_argument(
        "--precision",
        choices=("float32", "bfloat16"),
        help="U-Net matmul precision (default: what the device supports)",
    )
    options.add_argument(
        "--perceptual-weight", type=float, default=0.0, metavar="X", help="of sharpening (default: 0, without)"
    )
    for phase in PHASES:
        options.add_argument(f"--{phase}-steps", type=int, help="steps of this phase")
    return options


def plan_from(options: argparse.Namespace) -> Plan:
    """Build the training plan from the options."""
    out = options.out or options.work / "models"
    if options.steps is not None:
        plan = miniature(options.work, out, steps=options.steps, device=options.device, seed=options.seed)
    else:
        plan = Plan(work=options.work, out=out, device=options.device, seed=options.seed)
    precision = options.precision or choose_precision(options.device)
    plan = replace(plan, parts=parts_for(options), precision=precision, perceptual_weight=options.perceptual_weight)
    for phase in PHASES:
        name = f"{phase.replace('-', '_')}_steps"
        if (steps := getattr(options, name)) is not None:
            plan = replace(plan, **{name: steps})
    return plan


def parts_for(options: argparse.Namespace) -> int:
    """Return how many threads share a batch: one on a GPU, else the number of cores, up to four."""
    if options.parts is not None:
        return int(options.parts)
    return min(4, os.cpu_count() or 1) if options.device == "cpu" else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe; returns 0 once every model is in its folder."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    options = parser().parse_args(arguments)
    plan = plan_from(options)
    if plan.parts > 1:
        torch.set_num_threads(1)
    try:
        run(plan, options.only)
    except MezzotintError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
