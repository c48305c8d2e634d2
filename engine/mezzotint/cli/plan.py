"""`mezzotint plan`: how a model would use a machine's memory, before anything is loaded."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint.cli.argument_types import integer, memory_size, size
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.plan_report import report
from mezzotint.errors import OutOfMemory
from mezzotint.memory.footprint import ModelFootprint
from mezzotint.memory.machine_facts import MachineFacts
from mezzotint.memory.shipped import is_shipped, shipped
from mezzotint.protocol import MemoryPolicy, ModelRef, Plan, PlanRequest, Quantization

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands
    from mezzotint.memory.calibration import Calibration

_EXAMPLES = """\
  mezzotint plan starter-xl
  mezzotint plan sdxl+refiner --vram 8GB
  mezzotint plan flux --size 1024x1024 --vram 8GB --ram 16GB --json
"""


def add(commands: "Commands") -> None:
    """The command and its options."""
    parser = add_command(
        commands, "plan", "Say how a model would use memory: here, or on a card with so much.", run, _EXAMPLES
    )
    parser.add_argument(
        "model",
        metavar="MODEL[+REFINER]",
        help="an id of `mezzotint models list`, a path, or a known model: sdxl, sdxl+refiner, pixart, sd3.5-large, "
        "flux, qwen-image",
    )
    parser.add_argument("--size", type=size, metavar="WxH", help="of the picture in pixels (default: the model's own)")
    parser.add_argument("--steps", type=integer(1, 1000, 30), metavar="N", help="in all (default: the model's own)")
    parser.add_argument(
        "--memory",
        choices=get_args(MemoryPolicy),
        default="auto",
        help="auto: the best quality that is not made slow; balanced: sooner in 8 bits; fast: least time, in 8 bits "
        "where that helps; lowest: least memory",
    )
    parser.add_argument("--quant", choices=get_args(Quantization), default="auto", help="weights in 8 or 4 bits")
    parser.add_argument("--quant-text", choices=get_args(Quantization), default="auto", help="those of text encoders")
    parser.add_argument(
        "--vram", type=memory_size, metavar="SIZE", help="plan for an ordinary card with so much, such as 6GB"
    )
    parser.add_argument("--ram", type=memory_size, metavar="SIZE", help="plan for so much RAM, such as 16GB")
    add_json(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Plan, and tell; what does not fit ends with the code of memory that is short."""
    width, height = arguments.size or (None, None)
    request = PlanRequest(
        models=models_of(arguments.model),
        width=width,
        height=height,
        steps=arguments.steps,
        memory=arguments.memory,
        quantization=arguments.quant,
        text_quantization=arguments.quant_text,
        vram_bytes=arguments.vram,
        ram_bytes=arguments.ram,
    )
    plan = planned(request, context, tuple(arguments.models_folder))
    if arguments.json:
        context.terminal.json(plan)
    else:
        context.terminal.result(report(plan))
    if plan.fits:
        return 0
    context.terminal.error(OutOfMemory(plan.reasons[0]))
    return OutOfMemory.exit_code


def models_of(words: str) -> tuple[str, ...]:
    """The models of all stages; a plus in the name of a file that exists divides nothing."""
    return (words,) if "+" not in words or Path(words).exists() else tuple(words.split("+"))


def planned(request: PlanRequest, context: Context, folders: tuple[Path, ...]) -> Plan:
    """The plan for a request; nothing of torch is needed where models and memory are given by name and number."""
    from mezzotint.memory.machine_probe import usual_dtype
    from mezzotint.memory.planner import plan
    from mezzotint.memory.task import task_of

    machine, calibration = _machine(request, context)
    task = task_of(
        _footprints(request.models, context, folders),
        width=request.width,
        height=request.height,
        steps=request.steps,
        quantization=request.quantization,
        text_quantization=request.text_quantization,
        dtype=usual_dtype(machine),
    )
    return plan(task, machine, calibration, request.memory)


def _machine(request: PlanRequest, context: Context) -> "tuple[MachineFacts, Calibration | None]":
    from mezzotint.memory.machine_probe import ordinary_machine

    if request.vram_bytes is None:
        machine, calibration = this_machine(request.ram_bytes)
        if machine.device == "cpu":
            context.terminal.talk("this machine has no GPU: planned for its processor and RAM (--vram 8GB: for a card)")
        return machine, calibration
    return ordinary_machine(request.vram_bytes, request.ram_bytes or this_ram()), None


def this_ram() -> int:
    """Bytes that a process may have here."""
    from mezzotint.memory.machine_probe import machine_facts

    return machine_facts("cpu").ram_bytes


def this_machine(ram_limit: int | None) -> "tuple[MachineFacts, Calibration]":
    """This machine with its best device, and what was learned of that."""
    from mezzotint import paths
    from mezzotint.machine import devices
    from mezzotint.memory.calibration import load_calibration
    from mezzotint.memory.machine_probe import machine_facts

    device = devices()[0].id
    calibration = load_calibration(paths.cache_folder(), machine_facts(device).device_name)
    return machine_facts(device, ram_limit=ram_limit, calibration=calibration), calibration


def _footprints(models: tuple[str, ...], context: Context, folders: tuple[Path, ...]) -> list[ModelFootprint]:
    """Names of known models need no catalog; a model of the catalog is looked at, file by file."""
    catalog: Catalog | None = None
    found = []
    for name in models:
        if is_shipped(name):
            found.append(shipped(name))
            continue
        catalog = catalog or context.make_catalog(folders)
        found.append(_footprint(name, catalog))
    return found


def _footprint(name: str, catalog: "Catalog") -> ModelFootprint:
    from mezzotint import paths
    from mezzotint.families.footprints import footprint_of
    from mezzotint.families.known import family_of

    model = catalog.find(ModelRef(id=name))
    sources = family_of(model.detected.family).sources(model.checkpoint, model.detected)
    return footprint_of(sources, model_id=model.info.id, cache=paths.cache_folder() / "footprints")
