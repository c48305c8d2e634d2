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
from mezzotint.jobs.training.launcher import launch
from mezzotint.training.distributed import Processes
from mezzotint_starter.plan import Plan, miniature
from mezzotint_starter.precision import choose_precision
from mezzotint_starter.recipe import MODELS, run
from mezzotint_starter.variants.recipe import ALL_VARIANTS, TRUNK, VARIANTS
from mezzotint_starter.variants.refine import REFINERS

MOST_DEVICES = 4  # the smallest part of a batch, the edits of starter-flow at its larger size, has four images
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
    "variant",
    "preview-decoder",
    "upscaler",
    "control",
)


def parser() -> argparse.ArgumentParser:
    """Return the command's argument parser."""
    options = argparse.ArgumentParser(prog="python -m mezzotint_starter", description=__doc__)
    options.add_argument("--device", default="cpu", help="cpu or cuda")
    options.add_argument(
        "--devices", type=device_names, default=[], help="several, each with its share of every batch: 0,1 or cpu,cpu"
    )
    options.add_argument("--steps", type=int, help="run only this many steps of every phase, as a trial")
    options.add_argument("--work", type=Path, default=Path("build/starter"), help="folder of training states")
    options.add_argument(
        "--out", type=Path, help="output folder, with a subfolder for each model (default: WORK/models)"
    )
    options.add_argument(
        "--only",
        choices=(*MODELS, TRUNK, *VARIANTS, *REFINERS, ALL_VARIANTS),
        help="train only this one; some are made only so",
    )
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--images", type=int, help="training images (default: 14336)")
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


def device_names(text: str) -> list[str]:
    """Names of devices, separated by commas; numbers are GPUs."""
    names = [f"cuda:{name}" if name.isdecimal() else name for name in text.split(",")]
    if "" in names or len(names) > MOST_DEVICES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of up to {MOST_DEVICES} devices, such as 0,1")
    return names


def device_of(options: argparse.Namespace) -> str:
    """The device of this process."""
    place = Processes.of_environment().local_rank
    return str(options.devices[place] if options.devices else options.device)


def plan_from(options: argparse.Namespace) -> Plan:
    """Build the training plan from the options."""
    out, device = options.out or options.work / "models", device_of(options)
    if options.steps is not None:
        plan = miniature(options.work, out, steps=options.steps, device=device, seed=options.seed)
    else:
        plan = Plan(work=options.work, out=out, device=device, seed=options.seed)
    precision = options.precision or choose_precision(device)
    plan = replace(plan, parts=parts_for(options), precision=precision, perceptual_weight=options.perceptual_weight)
    if options.images is not None:
        plan = replace(plan, images=options.images)
    for phase in PHASES:
        name = f"{phase.replace('-', '_')}_steps"
        if (steps := getattr(options, name)) is not None:
            plan = replace(plan, **{name: steps})
    return plan


def parts_for(options: argparse.Namespace) -> int:
    """Return how many threads share a batch: one on a GPU and on several devices, else one a core, up to four."""
    if len(options.devices) > 1:
        return 1
    if options.parts is not None:
        return int(options.parts)
    return min(4, os.cpu_count() or 1) if device_of(options) == "cpu" else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe, on several devices in a process for each; returns 0 once every model is in its folder."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(words)
    if len(options.devices) > 1 and "WORLD_SIZE" not in os.environ:
        return launch([sys.executable, "-P", "-m", "mezzotint_starter", *words], len(options.devices))
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    plan = plan_from(options)
    if plan.parts > 1 or len(options.devices) > 1:
        torch.set_num_threads(1)
    try:
        with Processes.of_environment().joined(torch.device(plan.device)):
            run(plan, options.only)
    except MezzotintError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
