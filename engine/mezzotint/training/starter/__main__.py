"""python -m mezzotint.training.starter: make the bundled model, or the judge of it, from nothing."""

import argparse
import dataclasses
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from mezzotint.errors import MezzotintError
from mezzotint.training.starter.judge import bundled_judge
from mezzotint.training.starter.recipe import Plan, miniature, run, run_judge


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="python -m mezzotint.training.starter", description=__doc__)
    options.add_argument("--device", default="cpu", help="cpu or cuda")
    options.add_argument("--steps", type=int, help="run only that many steps of every phase: a trial, not a model")
    options.add_argument("--work", type=Path, default=Path("build/starter"), help="where unfinished work is kept")
    options.add_argument("--out", type=Path, help="the model's folder (WORK/starter-dit unless told)")
    options.add_argument("--only", choices=("judge",), help="make the judge (ASSETS/starter/judge unless told)")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--parts", type=int, help="threads that share each batch (the processor's cores unless told)")
    options.add_argument("--autoencoder-steps", type=int, help="the length of that phase alone")
    options.add_argument("--sharpening-steps", type=int, help="the length of that phase alone")
    options.add_argument("--denoiser-steps", type=int, help="the length of that phase alone")
    return options


def plan_from(options: argparse.Namespace) -> Plan:
    """The plan that the options ask for."""
    out = options.out or (bundled_judge() if options.only == "judge" else options.work / "starter-dit")
    plan = Plan(work=options.work, out=out, device=options.device, seed=options.seed)
    if options.steps is not None:
        plan = miniature(options.work, out, steps=options.steps, device=options.device, seed=options.seed)
    return dataclasses.replace(
        plan,
        parts=parts_for(options),
        autoencoder_steps=options.autoencoder_steps or plan.autoencoder_steps,
        sharpening_steps=options.sharpening_steps or plan.sharpening_steps,
        denoiser_steps=options.denoiser_steps or plan.denoiser_steps,
    )


def parts_for(options: argparse.Namespace) -> int:
    """How many threads share a batch: one on a graphics card, else the cores, up to four."""
    if options.parts is not None:
        return int(options.parts)
    return min(4, os.cpu_count() or 1) if options.device == "cpu" else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe; 0 when the model stands in its folder."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    options = parser().parse_args(arguments)
    plan = plan_from(options)
    if plan.parts > 1:
        torch.set_num_threads(1)
    try:
        if options.only == "judge":
            run_judge(plan)
        else:
            run(plan)
    except MezzotintError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
