"""The words of `mezzotint generate`."""

import argparse
import dataclasses
from pathlib import Path
from typing import Any, get_args

from mezzotint.batch.job.limits import MAX_GUIDANCE, MAX_SEED, MAX_STEPS
from mezzotint.batch.job.settings import HIRES_STRENGTH, REFINER_AT, Options
from mezzotint.cli.argument_types import integer, lora, number, size, text
from mezzotint.cli.command_options import add_models_folder
from mezzotint.cli.inpaint_options import add_inpaint_options
from mezzotint.cli.memory_options import add_memory_options
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

output names may contain [seed] [prompt] [model] [width] [height] [steps] [sampler] [index] [count] [date] [time];
an existing file is never replaced: the new image gets another name, unless you give --overwrite.
A prompt that starts with a hyphen goes last, after `--`.
"""


def add_generate_options(parser: argparse.ArgumentParser) -> None:
    """Every option, grouped as a person would look for it."""
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", type=text, help="what the image shows")
    _add_picture(parser.add_argument_group("image"))
    add_inpaint_options(parser.add_argument_group("inpainting and outpainting"))
    add_how_options(parser)
    _add_output(parser.add_argument_group("output"))
    add_models_folder(parser)


def add_how_options(parser: argparse.ArgumentParser) -> None:
    """What decides how an image is made, whatever it shows."""
    _add_sampling(parser.add_argument_group("sampling"))
    _add_cascade(parser.add_argument_group("refiner and hires fix"))
    _add_machine(parser.add_argument_group("performance"))
    add_memory_options(parser.add_argument_group("memory"))


def options_of(arguments: argparse.Namespace) -> Options:
    """The parsed words; what a command has no option for is what it is when nothing is said."""
    said: dict[str, Any] = {
        field.name: getattr(arguments, field.name, field.default) for field in dataclasses.fields(Options)
    }
    return Options(**said | {"embedding": tuple(said["embedding"]), "lora": tuple(said["lora"])})


def _add_picture(group: argparse._ArgumentGroup) -> None:
    add_look_options(group)
    group.add_argument("--init", metavar="FILE", help="init image, for image to image")
    group.add_argument(
        "--from",
        dest="from_image",
        metavar="IMAGE",
        type=Path,
        help="take all settings from the metadata of this image; other options override them",
    )


def add_look_options(group: argparse._ArgumentGroup, *, of_rows: bool = False) -> None:
    """What decides what is seen, beside the words and the image that it starts from. `of_rows`: many of them."""
    of_each = " of each row" if of_rows else ""
    drawn = "each row has its own, the same in every run" if of_rows else "random"
    group.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="an id from `mezzotint models list`, or a path (default: the bundled starter)",
    )
    group.add_argument(
        "--weights",
        metavar="FILE",
        help="load the denoiser (U-Net or transformer) from this safetensors or GGUF file, everything else from the "
        "model",
    )
    group.add_argument("--negative", metavar="TEXT", type=text, help="negative prompt (default: none)")
    group.add_argument("--size", metavar="WxH", type=size, help="pixels, such as 1024x768 (default: the model's)")
    group.add_argument(
        "--seed",
        metavar="N",
        type=integer(0, MAX_SEED, 7),
        help=f"seed of the first image{of_each}; the next ones count up (default: {drawn})",
    )
    group.add_argument(
        "--count", metavar="N", type=integer(1, 10_000, 4), help=f"number of images{of_each} (default: 1)"
    )
    group.add_argument(
        "--strength",
        metavar="0..1",
        type=number(0, 1, 0.6),
        help="denoising strength of an init image (default: 0.6; 1 where a masked part is filled first)",
    )
    group.add_argument(
        "--embedding",
        metavar="FILE",
        action="append",
        default=[],
        help="a textual inversion, used by its file name in the prompt (may be repeated)",
    )
    group.add_argument(
        "--lora",
        metavar="FILE[:WEIGHT]",
        type=lora,
        action="append",
        default=[],
        help="a LoRA in safetensors and its weight, such as style.safetensors:0.8 (default: 1; may be repeated)",
    )


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    own = "(default: the model's)"
    group.add_argument(
        "--steps", metavar="N", type=integer(1, MAX_STEPS, 20), help=f"sampling steps of the whole schedule {own}"
    )
    group.add_argument(
        "--guidance",
        metavar="G",
        type=number(0, MAX_GUIDANCE, 5),
        help=f"CFG scale: how closely the prompt is followed {own}",
    )
    group.add_argument(
        "--guidance-rescale", metavar="0..1", type=number(0, 1, 0.7), help=f"CFG rescale, against overexposure {own}"
    )
    group.add_argument("--sampler", metavar="NAME", help=f"{', '.join(A1111_SAMPLERS)} {own}")
    group.add_argument("--schedule", metavar="NAME", help=f"default, {', '.join(A1111_SCHEDULES)} {own}")
    group.add_argument(
        "--clip-skip",
        metavar="N",
        type=integer(0, 10, 1),
        help="use the text encoder's output N layers earlier (default: 0)",
    )
    group.add_argument(
        "--prediction-type", choices=get_args(PredictionType), help="override what the model's files say"
    )
    group.add_argument(
        "--zero-terminal-snr",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="override what the model's files say",
    )


def _add_cascade(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--refiner", metavar="MODEL", help="a model for the last part of the schedule")
    group.add_argument(
        "--refiner-at",
        metavar="0..1",
        type=number(0, 1, REFINER_AT, inside=True),
        help=f"switch to the refiner after this part of the schedule (default: {REFINER_AT})",
    )
    group.add_argument(
        "--hires", metavar="SCALE", type=number(1, 4, 1.5), help="hires fix: a second pass at 1 to 4 times the size"
    )
    group.add_argument(
        "--hires-strength",
        metavar="0..1",
        type=number(0, 1, HIRES_STRENGTH),
        help=f"denoising strength of the second pass (default: {HIRES_STRENGTH})",
    )
    group.add_argument("--hires-space", choices=get_args(Space), help="upscale latents or pixels (default: latent)")
    group.add_argument("--hires-upscaler", choices=get_args(Upscaler), help="upscaling method (default: bicubic)")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="a folder, a file name or a template with [tokens]; .png, .jpg, .webp (default: [date]-[time]-[seed].png)",
    )
    group.add_argument("--overwrite", action="store_true", help="replace an existing file (default: use another name)")
    group.add_argument(
        "--preview-dir", dest="preview", metavar="DIR", help="write a preview image of each step into this folder"
    )
    group.add_argument("--preview", help=argparse.SUPPRESS)  # its name in 0.1
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


def _add_machine(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--device", metavar="NAME", help="auto, cpu, cuda, cuda:1, xpu, mps (default: auto, the best one available)"
    )
    group.add_argument(
        "--dtype", choices=get_args(Dtype), help="number format (default: auto: float32 on a CPU, 16 bits on a GPU)"
    )
    group.add_argument(
        "--attention",
        choices=get_args(Attention),
        help="flash and int8 (faster, less exact) on NVIDIA cards; sdpa and reference everywhere (default: auto: flash "
        "where supported, otherwise sdpa)",
    )
    group.add_argument(
        "--quant",
        choices=get_args(Quantization),
        help="quantize the denoiser as it is loaded, cached for the next time (default: auto: none unless the card is "
        "too small)",
    )
    group.add_argument(
        "--compile",
        action="store_true",
        help="compile the denoiser's blocks: the first image of a size takes minutes, the next ones less time",
    )
    group.add_argument(
        "--fast",
        action="store_true",
        help="float16 with float16 accumulation: faster on NVIDIA GeForce cards, slightly less exact",
    )
    group.add_argument(
        "--cuda-graphs",
        choices=get_args(CudaGraphs),
        help="capture each step as a CUDA graph where the whole denoiser is on an NVIDIA card (default: auto: off for "
        "now)",
    )
    group.add_argument("--quant-text", choices=get_args(Quantization), help="quantize the text encoders")
