"""The words of `mezzotint generate`."""

import argparse
import dataclasses
from pathlib import Path
from typing import Any, get_args

from mezzotint.cli.again import MAX_GUIDANCE, MAX_SEED, MAX_STEPS
from mezzotint.cli.argument_types import integer, lora, number, size, text
from mezzotint.cli.command_options import add_models_folder
from mezzotint.cli.inpaint_options import add_inpaint_options
from mezzotint.cli.memory_options import add_memory_options
from mezzotint.cli.request import HIRES_STRENGTH, REFINER_AT, Options
from mezzotint.images.dialect import A1111_SAMPLERS, A1111_SCHEDULES
from mezzotint.protocol import Attention, CudaGraphs, Dtype, PredictionType, Quantization, Space, Upscaler

EXAMPLES = """\
  mezzotint generate "a red house by the sea at dusk" --seed 7 -o house.png
  mezzotint generate "a blue boat" --count 4 --steps 30 --guidance 5 -o "out/[seed].png"
  mezzotint generate "the same at night" --init house.png --strength 0.6
  mezzotint generate "a blue door" --init house.png --mask door.png --inpaint-area masked
  mezzotint generate "the same, with more sea" --init house.png --outpaint right=128
  mezzotint generate "..." -m sdxl-base --refiner sdxl-refiner --refiner-at 0.8
  mezzotint generate "..." -m /models/finetune.safetensors --hires 1.5
  mezzotint generate "..." --lora ink.safetensors:0.8 --lora fog.safetensors:-0.5
  mezzotint generate --from house.png

output names may hold [seed] [prompt] [model] [width] [height] [steps] [sampler] [index] [count] [date] [time];
a name in use is never replaced: the new picture gets another, unless you say --overwrite.
A prompt that starts with a hyphen goes last, after `--`.
"""


def add_generate_options(parser: argparse.ArgumentParser) -> None:
    """Every option, grouped as a person would look for it."""
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", type=text, help="what to see, in words")
    _add_picture(parser.add_argument_group("picture"))
    add_inpaint_options(parser.add_argument_group("parts of an init picture"))
    add_how_options(parser)
    _add_output(parser.add_argument_group("output"))
    add_models_folder(parser)


def add_how_options(parser: argparse.ArgumentParser) -> None:
    """What decides how a picture is made, whatever it shows."""
    _add_sampling(parser.add_argument_group("sampling"))
    _add_cascade(parser.add_argument_group("refiner and second pass"))
    _add_machine(parser.add_argument_group("machine"))
    add_memory_options(parser.add_argument_group("memory"))


def options_of(arguments: argparse.Namespace) -> Options:
    """The parsed words; what a command has no option for is what it is when nothing is said."""
    said: dict[str, Any] = {
        field.name: getattr(arguments, field.name, field.default) for field in dataclasses.fields(Options)
    }
    return Options(**said | {"embedding": tuple(said["embedding"]), "lora": tuple(said["lora"])})


def _add_picture(group: argparse._ArgumentGroup) -> None:
    add_look_options(group)
    group.add_argument("--init", metavar="FILE", help="a picture to start from")
    group.add_argument(
        "--from",
        dest="from_image",
        metavar="IMAGE",
        type=Path,
        help="make this picture again; options beside it change what they name",
    )


def add_look_options(group: argparse._ArgumentGroup, *, of_rows: bool = False) -> None:
    """What decides what is seen, beside the words and the picture that it starts from. `of_rows`: many of them."""
    of_each = " of each row" if of_rows else ""
    drawn = "every row has its own, the same in every run" if of_rows else "drawn, and told"
    group.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="an id of `mezzotint models list`, or a path (default: the bundled starter)",
    )
    group.add_argument(
        "--weights",
        metavar="FILE",
        help="take the network that makes pictures from this file, safetensors or GGUF, and all else from the model",
    )
    group.add_argument("--negative", metavar="TEXT", type=text, help="what not to see (default: nothing)")
    group.add_argument("--size", metavar="WxH", type=size, help="pixels, such as 1024x768 (default: the model's own)")
    group.add_argument(
        "--seed",
        metavar="N",
        type=integer(0, MAX_SEED, 7),
        help=f"of the first picture{of_each}, the next ones count up (default: {drawn})",
    )
    group.add_argument(
        "--count", metavar="N", type=integer(1, 10_000, 4), help=f"how many pictures{of_each} (default: 1)"
    )
    group.add_argument(
        "--strength",
        metavar="0..1",
        type=number(0, 1, 0.6),
        help="how much of a picture to start from is made anew (default: 0.6; 1 for parts that begin from a fill)",
    )
    group.add_argument(
        "--embedding",
        metavar="FILE",
        action="append",
        default=[],
        help="a textual-inversion file, used by its name in the prompt (may be repeated)",
    )
    group.add_argument(
        "--lora",
        metavar="FILE[:WEIGHT]",
        type=lora,
        action="append",
        default=[],
        help="a LoRA in safetensors, and how strongly it counts, such as style.safetensors:0.8 (default: 1; may be "
        "repeated)",
    )


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    own = "(default: the model's own)"
    group.add_argument("--steps", metavar="N", type=integer(1, MAX_STEPS, 20), help=f"of the whole schedule {own}")
    group.add_argument(
        "--guidance", metavar="G", type=number(0, MAX_GUIDANCE, 5), help=f"how strictly the words are followed {own}"
    )
    group.add_argument(
        "--guidance-rescale", metavar="0..1", type=number(0, 1, 0.7), help=f"against overexposure by guidance {own}"
    )
    group.add_argument("--sampler", metavar="NAME", help=f"{', '.join(A1111_SAMPLERS)} {own}")
    group.add_argument("--schedule", metavar="NAME", help=f"default, {', '.join(A1111_SCHEDULES)} {own}")
    group.add_argument(
        "--clip-skip",
        metavar="N",
        type=integer(0, 10, 1),
        help="take the text encoder's output N layers earlier (default: 0)",
    )
    group.add_argument("--prediction-type", choices=get_args(PredictionType), help="overrides what the file says")
    group.add_argument(
        "--zero-terminal-snr", action=argparse.BooleanOptionalAction, default=None, help="overrides what the file says"
    )


def _add_cascade(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--refiner", metavar="MODEL", help="a second model that does the last part of the schedule")
    group.add_argument(
        "--refiner-at",
        metavar="0..1",
        type=number(0, 1, REFINER_AT, inside=True),
        help=f"the part of the schedule done before it takes over (default: {REFINER_AT})",
    )
    group.add_argument(
        "--hires", metavar="SCALE", type=number(1, 4, 1.5), help="a second pass at 1 to 4 times the size"
    )
    group.add_argument(
        "--hires-strength",
        metavar="0..1",
        type=number(0, 1, HIRES_STRENGTH),
        help=f"how much that pass makes anew (default: {HIRES_STRENGTH})",
    )
    group.add_argument("--hires-space", choices=get_args(Space), help="enlarge latents or pixels (default: latent)")
    group.add_argument("--hires-upscaler", choices=get_args(Upscaler), help="how to enlarge (default: bicubic)")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="a folder, a file name or one with [tokens]; .png, .jpg, .webp (default: [date]-[time]-[seed].png here)",
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace a file that exists (default: take another name)"
    )
    group.add_argument("--preview", metavar="DIR", help="write a small picture of every step into this folder")
    group.add_argument(
        "--save-job",
        metavar="FILE",
        type=Path,
        help="write all this as a job file for `mezzotint run`, .toml or .json, and make nothing",
    )
    programs = group.add_mutually_exclusive_group()
    programs.add_argument(
        "--json", action="store_true", help="print one JSON object on stdout: every value that was used, or the error"
    )
    programs.add_argument(
        "--jsonl",
        action="store_true",
        help='print JSON lines on stdout: {"event": ...} as it happens, then {"result": ...} or {"error": ...}',
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no talk, no progress; only results and errors")


def _add_machine(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--device", metavar="NAME", help="auto, cpu, cuda, cuda:1, xpu, mps (default: auto, the best there is)"
    )
    group.add_argument(
        "--dtype", choices=get_args(Dtype), help="number format (default: auto, float32 on a CPU, 16 bits on a GPU)"
    )
    group.add_argument(
        "--attention",
        choices=get_args(Attention),
        help="flash and int8 (faster, less exact) on an NVIDIA card, sdpa and reference everywhere (default: auto, "
        "which is flash where that can be, else sdpa)",
    )
    group.add_argument(
        "--quant",
        choices=get_args(Quantization),
        help="weights in 8 or 4 bits as they are loaded, kept for the next time (default: auto, none unless the "
        "card is too small)",
    )
    group.add_argument(
        "--compile",
        action="store_true",
        help="compile the blocks of the network: minutes for the first picture of a size, less time for the next ones",
    )
    group.add_argument(
        "--fast",
        action="store_true",
        help="float16 with sums in float16: faster on NVIDIA GeForce cards, a little less exact",
    )
    group.add_argument(
        "--cuda-graphs",
        choices=get_args(CudaGraphs),
        help="capture a step as a CUDA graph and replay it, where the network is whole on an NVIDIA card (default: "
        "auto, which is off until cards have shown it)",
    )
    group.add_argument("--quant-text", choices=get_args(Quantization), help="the same for text encoders")
