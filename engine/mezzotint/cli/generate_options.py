"""The arguments of `mezzotint generate`, derived from the option declarations."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mezzotint.cli.argument_types import argument, card_memory, text
from mezzotint.cli.command_options import add_models_folder
from mezzotint.option import Group, Option
from mezzotint.options import GROUPS, OPTIONS, Options
from mezzotint.values.basic import Choice, Listed, YesNo

EXAMPLES = """\
  mezzotint generate "a red house by the sea at dusk" --seed 7 -o house.png
  mezzotint generate "a blue boat" --count 4 --steps 30 --guidance 5 -o "out/[seed].png"
  mezzotint generate "the same at night" --init house.png --strength 0.6
  mezzotint generate "a blue door" --init house.png --mask door.png --inpaint-area masked
  mezzotint generate "the same, with more sea" --init house.png --outpaint right=128
  mezzotint generate "..." -m sdxl-base --refiner sdxl-refiner --refiner-at 0.8
  mezzotint generate "..." -m /models/finetune.safetensors --hires 1.5
  mezzotint generate "..." --lora ink.safetensors:0.8 --lora fog.safetensors:-0.5
  mezzotint generate "..." --control photo.jpg,model=canny.safetensors,preprocess=canny,weight=0.7
  mezzotint generate --from house.png

output names may contain [seed] [prompt] [model] [width] [height] [steps] [sampler] [index] [count] [date] [time];
an existing file is never replaced: the new image gets another name, unless you give --overwrite.
A prompt that starts with a hyphen goes last, after `--`.
"""

_PARSERS: dict[str, Callable[[str], Any]] = {"vram-limit": lambda words: card_memory(words)[0]}  # also a GPU's name
_SPARSE = "sparse"  # of --attention, which is the option --sparse-attention
_OF_INPUT = ("init",)  # a batch takes these from its input folder
_OF_ROWS = {  # help texts for commands with many rows
    "seed": "seed of the first image of each row; the next ones count up (default: each row has its own, the same in "
    "every run)",
    "count": "number of images of each row (default: 1)",
}


def add_generate_options(parser: argparse.ArgumentParser) -> None:
    """Add every option, in argument groups."""
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", type=text, help=OPTIONS["prompt"].help)
    for group in GROUPS:
        added = parser.add_argument_group(group)
        _add_group(added, group)
        if group == "image":
            _add_from(added)
        if group == "output":
            _add_output(added)
    add_models_folder(parser)


def add_row_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that also apply to a batch of many rows or images."""
    for group in GROUPS:
        if group != "output":
            _add_group(parser.add_argument_group(group), group, but=_OF_INPUT, helps=_OF_ROWS)


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that control how an image is generated, independent of its content."""
    for group in GROUPS:
        if group not in ("image", "inpainting and outpainting", "output"):
            _add_group(parser.add_argument_group(group), group)


def add_option(parser: argparse._ActionsContainer, name: str) -> None:
    """Add one option."""
    _add(parser, OPTIONS[name], None)


def options_of(arguments: argparse.Namespace) -> Options:
    """Return the parsed arguments as `Options`; options that the command does not have stay unset."""
    values = {one.field: getattr(arguments, one.field, None) for one in OPTIONS.values()}
    return Options(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def _add_group(
    parser: argparse._ArgumentGroup, group: Group, but: tuple[str, ...] = (), helps: dict[str, str] | None = None
) -> None:
    for one in OPTIONS.values():
        if one.group == group and one.name not in ("prompt", *but):
            _add(parser, one, (helps or {}).get(one.name))


def _add(parser: argparse._ActionsContainer, one: Option, help_text: str | None) -> None:
    names = (one.flag,) if one.short is None else (one.short, one.flag)
    default = f" (default: {one.default})" if one.default else ""
    text = ": ".join([one.help, ", ".join(one.names)] if one.names else [one.help])
    parser.add_argument(*names, dest=one.field, help=help_text or text + default, **_argument_kwargs(one))


def _argument_kwargs(one: Option) -> dict[str, Any]:
    match one.takes:
        case Choice(choices=choices) if one.name == "attention":
            words = ",".join((*choices, f"{_SPARSE}[:KIND][:DENSITY]"))
            return {"metavar": f"{{{words}}}", "type": _attention, "action": _Attention}
        case YesNo(switch=True):
            return {"action": "store_true"}
        case YesNo():
            return {"action": argparse.BooleanOptionalAction, "default": None}
        case Choice():
            return {"choices": one.takes.choices, "type": one.takes.current}
        case Listed():
            return {"action": "append", "default": [], "metavar": one.takes.metavar, "type": argument(one.takes)}
    return {"metavar": one.takes.metavar, "type": _PARSERS.get(one.name) or argument(one.takes)}


class _Attention(argparse.Action):
    """--attention, whose word sparse[:KIND][:DENSITY] sets --sparse-attention and leaves the implementation open."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: Any,  # noqa: ANN401
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        name = self.dest if isinstance(values, str) else OPTIONS["sparse-attention"].field
        setattr(namespace, name, values)


def _attention(word: str) -> Any:  # noqa: ANN401  a word, or a kind and a density
    name, _, rest = word.partition(":")
    if name == _SPARSE:
        return argument(OPTIONS["sparse-attention"].takes)(rest or "pooled")
    try:
        return OPTIONS["attention"].takes.parse(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}, or {_SPARSE}[:KIND][:DENSITY]") from None


def _add_from(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--from",
        dest="from_image",
        metavar="IMAGE",
        type=Path,
        help="take all settings from the metadata of this image; other options override them",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--preview", help=argparse.SUPPRESS)  # the name of --preview-dir in 0.1
    group.add_argument(
        "--save-job",
        metavar="FILE",
        type=Path,
        help="only write these options as a job file for `mezzotint run`, .toml or .json",
    )
    programs = group.add_mutually_exclusive_group()
    programs.add_argument(
        "--json", action="store_true", help="print one JSON object: every value that was used, or the error"
    )
    programs.add_argument(
        "--jsonl",
        action="store_true",
        help='print JSON lines: {"event": ...} as they happen, then {"result": ...} or {"error": ...}',
    )
    group.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
