"""`mezzotint plan`: predict how a model would use a machine's memory, without loading it."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint.cli.argument_types import card_memory, integer, memory_size, size
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.generate_options import add_option
from mezzotint.cli.plan_report import report, training_report
from mezzotint.control_protocol import ControlImage
from mezzotint.errors import OutOfMemory
from mezzotint.memory.footprints.shipped import is_shipped
from mezzotint.memory_protocol import FastModel
from mezzotint.protocol import MemoryPolicy, PlanRequest, Quantization, faster_models
from mezzotint.stages.planning import planned

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands

_EXAMPLES = """\
  mezzotint plan starter-xl
  mezzotint plan sdxl+refiner --vram 8GB
  mezzotint plan flux --vram "RTX 4090"
  mezzotint plan --train z-image --vram 8GB
  mezzotint plan flux --size 1024x1024 --vram 8GB --ram 16GB --json
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "plan", "Show how a model would use memory, here or on another GPU.", run, _EXAMPLES)
    parser.add_argument(
        "model",
        metavar="MODEL[+REFINER]",
        help="an id of `mezzotint models list`, a path, or a known model such as sdxl, sdxl+refiner, sd1.5, flux, "
        "z-image, krea2, qwen-image or sana (the error for another name lists all)",
    )
    parser.add_argument("--train", action="store_true", help="plan the training of a LoRA instead of images")
    parser.add_argument("--size", type=size, metavar="WxH", help="image size in pixels (default: the model's default)")
    parser.add_argument(
        "--reference",
        type=size,
        action="append",
        default=[],
        metavar="WxH",
        help="plan for a reference image of this size, for models that take them (may be repeated)",
    )
    parser.add_argument("--steps", type=integer(1, 1000, 30), metavar="N", help="steps (default: the model's default)")
    parser.add_argument(
        "--memory",
        choices=get_args(MemoryPolicy),
        default="auto",
        help="auto: best quality without slowing down much; balanced: faster, in 8 bits; fast: shortest time, in 8 "
        "bits where that helps; lowest: least memory",
    )
    parser.add_argument(
        "--quant", choices=get_args(Quantization), default="auto", help="quantize the denoiser to 8 or 4 bits"
    )
    parser.add_argument(
        "--quant-text", choices=get_args(Quantization), default="auto", help="quantize the text encoders"
    )
    parser.add_argument(
        "--vram",
        "--card",
        type=card_memory,
        default=(None, None),
        metavar="SIZE|CARD",
        help="plan for a typical card with that much VRAM, such as 6GB, or for a card by name, such as 'RTX 4090'",
    )
    parser.add_argument("--ram", type=memory_size, metavar="SIZE", help="plan for that much RAM, such as 16GB")
    for name in ("control", "tokens", "sparse-attention", "deep-shrink", "step-cache", "denoise-tile"):
        add_option(parser, name)
    add_json(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the plan; returns the exit code of OutOfMemory if the model does not fit."""
    if arguments.train:
        return _run_training(arguments, context)
    width, height = arguments.size or (None, None)
    request = PlanRequest(
        models=models_of(arguments.model),
        width=width,
        height=height,
        steps=arguments.steps,
        memory=arguments.memory,
        quantization=arguments.quant,
        text_quantization=arguments.quant_text,
        vram_bytes=arguments.vram[0],
        ram_bytes=arguments.ram,
        card=arguments.vram[1],
        references=tuple(arguments.reference),
        tokens=arguments.tokens,
        sparse_attention=arguments.sparse_attention,
        deep_shrink=arguments.deep_shrink,
        step_cache=arguments.step_cache,
        denoise_tile=arguments.denoise_tile,
        advise=True,
        controls=tuple(map(ControlImage().to_setting, arguments.control or ())),
    )
    make_catalog = cache(lambda: context.make_catalog(arguments.models_folder))
    request = replace(request, fast_models=_fast_models(request.models[0], make_catalog))
    plan = planned(request, make_catalog, context.terminal.message)
    if arguments.json:
        context.terminal.json(plan)
    else:
        context.terminal.result(report(plan))
    if plan.fits:
        return 0
    context.terminal.error(OutOfMemory(plan.reasons[0]))
    return OutOfMemory.exit_code


def _fast_models(name: str, make_catalog: "Callable[[], Catalog]") -> tuple[FastModel, ...]:
    """Return the models that could take the place of a model of the catalog."""
    if is_shipped(name):
        return ()
    models = make_catalog().models()
    found = next((one for one in models if name in (one.id, one.path)), None)
    return () if found is None else faster_models(found, models)


def _run_training(arguments: argparse.Namespace, context: Context) -> int:
    from mezzotint.jobs.training.planning import plan_for

    plan = plan_for(
        arguments.model,
        lambda: context.make_catalog(arguments.models_folder),
        resolution=arguments.size and round((arguments.size[0] * arguments.size[1]) ** 0.5),
        quantization=None if arguments.quant == "auto" else arguments.quant,
        vram_bytes=arguments.vram[0],
        card=arguments.vram[1],
        ram_bytes=arguments.ram,
    )
    if arguments.json:
        context.terminal.json(plan)
    else:
        context.terminal.result(training_report(plan))
    if plan.fits:
        return 0
    context.terminal.error(OutOfMemory(plan.summary))
    return OutOfMemory.exit_code


def models_of(words: str) -> tuple[str, ...]:
    """Split MODEL+REFINER into the models of all stages; the path of an existing file is never split."""
    return (words,) if "+" not in words or Path(words).exists() else tuple(words.split("+"))
