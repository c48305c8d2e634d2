"""`mezzotint lora inspect`: show what a LoRA file holds."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.columns import facts
from mezzotint.cli.command_options import add_command, add_json
from mezzotint.cli.context import Context

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.conversion.loras.contents import LoraContents

_EXAMPLES = """\
  mezzotint lora inspect style.safetensors
  mezzotint lora inspect --json style.safetensors
"""
_MOST = 8  # ranks and alphas listed
_SHOWN = 300  # characters of a metadata entry


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Show what a LoRA is: kind, ranks, layers, the model that it is for, and its metadata."
    parser = add_command(commands, "inspect", summary, inspect_lora, _EXAMPLES)
    parser.add_argument("file", metavar="FILE", type=Path, help="a LoRA as safetensors")
    add_json(parser)


def inspect_lora(arguments: argparse.Namespace, context: Context) -> int:
    """Print the facts of the file."""
    from mezzotint.conversion.loras.contents import contents

    found = contents(arguments.file)
    if arguments.json:
        context.terminal.json(found)
    else:
        context.terminal.result(facts(_rows(found)))
    return 0


def _rows(found: "LoraContents") -> dict[str, str]:
    rows = {
        "file": found.path,
        "size": size(found.bytes),
        "kind": _kinds(found.kinds),
        "for": found.base or "not known",
        "rank": _listed(found.ranks),
        "alpha": _listed(found.alphas),
        "numbers": ", ".join(found.formats),
    }
    rows |= {f"{component} layers": str(count) for component, count in found.layers.items()}
    if found.unknown:
        rows["unknown tensors"] = f"{len(found.unknown)}, such as {found.unknown[0]}"
    return rows | {name: _shown(text) for name, text in sorted(found.metadata.items()) if name not in rows}


def _listed(values: tuple[float, ...]) -> str:
    if not values:
        return "none"
    shown = ", ".join(f"{value:g}" for value in values[:_MOST])
    return shown if len(values) <= _MOST else f"{len(values)} different ones, {values[0]:g} to {values[-1]:g}"


def _kinds(kinds: Mapping[str, int]) -> str:
    return next(iter(kinds)) if len(kinds) == 1 else ", ".join(f"{count} {kind}" for kind, count in kinds.items())


def _shown(text: str) -> str:
    if text.startswith("data:"):
        return f"{plain(text.partition(';')[0].removeprefix('data:'), 40)}, {size(len(text))}"
    return plain(text, _SHOWN)
