"""`python -m mezzotint_starter.scene_models`: train the models of composed scenes, or resume training."""

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import torch

from mezzotint.errors import MezzotintError
from mezzotint_starter.scene_models.plan import ScenePlan
from mezzotint_starter.scene_models.recipe import run
from mezzotint_starter.scenes.sources import default_folder

_LENGTHS = tuple(field.name for field in fields(ScenePlan) if field.name.endswith(("_steps", "_images")))


def parser() -> argparse.ArgumentParser:
    """Return the option parser."""
    options = argparse.ArgumentParser(prog="python -m mezzotint_starter.scene_models", description=__doc__)
    options.add_argument("--device", default="cpu", help="cpu or cuda")
    options.add_argument("--work", type=Path, default=Path("build/starter-scenes"), help="folder of training states")
    options.add_argument("--out", type=Path, help="output folder (default: WORK/models)")
    options.add_argument("--data", type=Path, default=default_folder(), help="folder of the fetched training pictures")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--parts", type=int, default=1, help="threads that share each batch (default: 1)")
    options.add_argument("--report-minutes", type=float, default=30.0, help="time between measurements (default: 30)")
    options.add_argument("--steps", type=int, help="run only this many steps of every phase, as a trial")
    for name in _LENGTHS:
        options.add_argument(f"--{name.replace('_', '-')}", type=int, help="length of this phase")
    return options


def plan_from(options: argparse.Namespace) -> ScenePlan:
    """Build the plan from the options."""
    given = {} if options.steps is None else dict.fromkeys(_LENGTHS, options.steps)
    given |= {name: getattr(options, name) for name in _LENGTHS if getattr(options, name) is not None}
    return ScenePlan(
        work=options.work,
        out=options.out or options.work / "models",
        data=options.data,
        device=options.device,
        seed=options.seed,
        parts=options.parts,
        report_minutes=options.report_minutes,
        measured=256 if options.steps is None else 4,
        scored=256 if options.steps is None else 2,
        shown=48 if options.steps is None else 2,
        **given,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe; returns 0 once every model is in its folder."""
    options = parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    if options.device == "cpu":
        torch.set_num_threads(1)
    try:
        run(plan_from(options))
    except MezzotintError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
