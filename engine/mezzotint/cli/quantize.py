"""`mezzotint quantize`: write a quantized copy of a model and report its quantization error."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli import quantize_auto
from mezzotint.cli.argument_types import card_memory, integer
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.quantize_auto import AUTO
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import UsageError
from mezzotint.protocol import SCHEMES, Loading, ModelRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import Tensor

    from mezzotint.catalog.catalog import FoundModel
    from mezzotint.cli.command_options import Commands
    from mezzotint.conversion.report import ConversionReport
    from mezzotint.families.family import ModelSources
    from mezzotint.jobs.calibration.auto import AutoChoice
    from mezzotint.quantization.policy import Choice

READABLE = {  # by other programs
    "diffusers": ("int4",),
    "comfyui": ("int8", "int8-weight", "int4-rot", "int4-codebook", "fp8", "nvfp4"),
}
RANK = 32
_EXAMPLES = """\
  mezzotint quantize starter-dit --scheme int8 -o small
  mezzotint quantize sdxl-base --scheme int4-lowrank --text-encoders int8 -o sdxl-small --report
  mezzotint quantize sdxl.safetensors --scheme int8 --for comfyui -o sdxl-int8.safetensors
  mezzotint quantize flux --scheme auto --target-vram 12GB -o flux-12gb
  mezzotint quantize flux --scheme auto --target-vram "RTX 4070" --dry-run

int8           weights and activations in 8 bits: half the size
int8-weight    only weights in 8 bits: a little closer to the original
int4           weights in 4 bits (NormalFloat): a quarter of the size
int4-lowrank   weights in 4 bits, plus a low-rank 16-bit branch for their error: nearly as small, much closer
int4-rot       weights and activations in 4 bits, rotated: a quarter of the size, meant for speed on RTX 20 to 40
int4-codebook  weights in 4 bits with a fitted codebook (W4A8), activations in 8: a little larger than int4, closer
svdquant       int4-rot with finer scales, smoothing and a low-rank branch: nearly as small, and closer to the original
fp8            weights and activations in 8-bit floats: half the size, multiplied as such on RTX 40 and 50
nvfp4          weights in 4-bit floats, with a scale for 16: under a third of the size; RTX 50 multiplies them as such,
               with activations rounded alike, others turn them back to 16 bits
auto           a scheme for each layer, so that the denoiser stays whole on a card with --target-vram; the model makes a
               few images to measure what each layer loses

The model is read and written tensor by tensor. The original is not changed; an interrupted run is resumed.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Quantize a model: make a copy with its weights in 8 or 4 bits."
    parser = add_command(commands, "quantize", summary, run, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="an id of `mezzotint models list`, or a path")
    parser.add_argument("--scheme", choices=(*SCHEMES, AUTO), required=True, help="scheme of the denoiser; see below")
    parser.add_argument(
        "--text-encoders",
        choices=("none", *SCHEMES),
        default="none",
        help="scheme of the text encoders (default: none)",
    )
    parser.add_argument("-o", "--output", metavar="PATH", type=Path, help="file or folder to write; must not exist yet")
    _add_auto(parser)
    parser.add_argument(
        "--for", dest="target", choices=("diffusers", "comfyui"), help="write only what that program can read"
    )
    parser.add_argument(
        "--rank",
        metavar="N",
        type=integer(1, 256, RANK),
        default=RANK,
        help=f"rank of the low-rank branch (default: {RANK})",
    )
    parser.add_argument(
        "--int8-convolutions",
        action="store_true",
        help="with --scheme int8, also quantize what the 3x3 convolutions of a U-Net see: faster, a little less close",
    )
    parser.add_argument("--no-rotation", action="store_true", help="do not rotate groups of columns before rounding")
    parser.add_argument("--report", action="store_true", help="print the error of each layer")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON object, also for errors")
    output.add_argument("--jsonl", action="store_true", help="print events and the result as JSON, one object a line")
    add_models_folder(parser)


def _add_auto(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scheme auto")
    group.add_argument(
        "--target-vram",
        type=card_memory,
        metavar="SIZE|CARD",
        help="the card that is to hold the denoiser: its memory, such as 8GB, or its name, such as 'RTX 4090'",
    )
    group.add_argument("--dry-run", action="store_true", help="print what each layer would get; write nothing")
    group.add_argument(
        "--allow-unquantized", action="store_true", help="also write a copy if everything fits in 16 bits"
    )
    group.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, cuda:1 (default: auto)")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Write the copy and print the quantization error."""
    quantize_auto.check_options(arguments)
    found = context.make_catalog(arguments.models_folder).find(ModelRef(id=arguments.model))
    _check_target(arguments, found)
    _check_convolutions(arguments)
    auto = None
    with Reporter(context, "jsonl" if arguments.jsonl else "paths") as reporter:
        if arguments.scheme == AUTO:
            settings = _settings(arguments), READABLE.get(arguments.target, SCHEMES)
            auto = quantize_auto.choose(arguments, context, found, settings, reporter.on_event)
        report = None if arguments.dry_run else _converted(arguments, context, found, auto, reporter)
    if arguments.json or arguments.jsonl:
        result = _numbers(report, auto)
        context.terminal.json({"result": result} if arguments.jsonl else result)
    else:
        context.terminal.result("\n\n".join(_texts(report, auto, each_layer=arguments.report)))
    return 0


def _converted(
    arguments: argparse.Namespace,
    context: Context,
    found: "FoundModel",
    auto: "AutoChoice | None",
    reporter: Reporter,
) -> "ConversionReport":
    """Write the copy."""
    from mezzotint.conversion.model import Conversion, convert
    from mezzotint.families.known import family_of

    sources = family_of(found.detected.family).sources(found.checkpoint, found.detected)
    total = sum(each.bytes for each in sources.components.values())
    done = 0

    def on_bytes(component: str, count: int) -> None:
        nonlocal done
        done = min(done + count, total)
        reporter.on_event(Loading(model=found.info.id, component=component, bytes_done=done, bytes_total=total))

    choices = choices_of(arguments, sources)
    balances: Mapping[str, Mapping[str, Tensor]]
    if auto is None:
        balances = quantize_auto.calibrated(arguments, context, found, choices, reporter.on_event)
    else:
        balances = {auto.component: auto.magnitudes}
    return convert(
        Conversion(
            sources=sources,
            choices=choices,
            balances=balances,
            output=arguments.output,
            mixed={} if auto is None or not auto.formats else {auto.component: auto.formats},
            record={} if auto is None else auto.record(),
            resumed=auto is None,
            for_diffusers=arguments.target == "diffusers",
            on_bytes=on_bytes,
            cancelled=context.interrupt.stop_requested,
        )
    )


def _numbers(report: "ConversionReport | None", auto: "AutoChoice | None") -> dict[str, object]:
    numbers: dict[str, object] = {} if auto is None else {"auto": quantize_auto.numbers(auto)}
    if report is not None:
        sizes = {"bytes_before": report.bytes_before, "bytes_after": report.bytes_after}
        numbers |= {"output": report.output, **sizes, "components": report.components}
    return numbers


def _texts(report: "ConversionReport | None", auto: "AutoChoice | None", *, each_layer: bool) -> "Iterator[str]":
    if auto is not None:
        yield quantize_auto.report(auto) if report is None else quantize_auto.summary(auto)
    if report is not None:
        yield _format_report(report, each_layer=each_layer)


def _check_target(arguments: argparse.Namespace, found: "FoundModel") -> None:
    single = isinstance(found.checkpoint, FileCheckpoint)
    if arguments.target == "comfyui" and not single:
        raise UsageError(f"{found.info.id} is a folder, and ComfyUI reads single files: name a single-file checkpoint")
    if arguments.target == "diffusers" and single:
        raise UsageError(f"{found.info.id} is one file, and diffusers reads quantized folders: name a model folder")
    readable = READABLE.get(arguments.target, SCHEMES)
    for scheme in (arguments.scheme, arguments.text_encoders):
        if scheme not in (*readable, "none", AUTO):
            raise UsageError(f"{arguments.target} cannot read {scheme}; it reads {' and '.join(readable)}")


def _check_convolutions(arguments: argparse.Namespace) -> None:
    if arguments.int8_convolutions and (arguments.scheme != "int8" or arguments.target is not None):
        raise UsageError(
            "--int8-convolutions is for --scheme int8, in files that only Mezzotint reads: leave --for out"
        )


def choices_of(arguments: argparse.Namespace, sources: "ModelSources") -> "dict[str, Choice]":
    """Return the quantization choice of each component that is to be quantized."""
    from mezzotint.families.known import family_of

    choice, choices = _settings(arguments), {}
    if arguments.scheme != AUTO:
        choices[family_of(sources.family).denoiser_component] = choice
    if arguments.text_encoders != "none":
        encoders = [name for name in sources.components if name.startswith("text_encoder")]
        choices |= {name: replace(choice, scheme=arguments.text_encoders) for name in encoders}
    return choices


def _settings(arguments: argparse.Namespace) -> "Choice":
    """The settings of the denoiser; for `auto`, those of all schemes."""
    from mezzotint.quantization.policy import Choice

    foreign = arguments.target is not None
    return Choice(
        scheme="int8" if arguments.scheme == AUTO else arguments.scheme,
        rotate=not arguments.no_rotation,
        rank=arguments.rank,
        convolutions=not foreign,
        int8_convolutions=arguments.int8_convolutions,
        single_format=foreign,
    )


def _format_report(report: "ConversionReport", *, each_layer: bool) -> str:
    rows = [("PART", "BEFORE", "AFTER", "SHARE", "SCHEME", "ERROR")]
    for part in report.components:
        schemes = ", ".join(f"{count} {scheme}" for scheme, count in part.schemes.items()) or "unchanged"
        error = f"{part.error:.2%}" if part.layers else ""
        rows.append((part.name, *_sizes(part.bytes_before, part.bytes_after), schemes, error))
    rows.append(("all", *_sizes(report.bytes_before, report.bytes_after), "", ""))
    text = columns(rows)
    if each_layer:
        layers = [layer for part in report.components for layer in part.layers]
        header = ("LAYER", "BEFORE", "AFTER", "SHARE", "SCHEME", "ERROR")
        lines = [
            (layer.name, *_sizes(layer.bytes_before, layer.bytes_after), layer.scheme, f"{layer.error:.2%}")
            for layer in layers
        ]
        text = f"{columns([header, *lines])}\n\n{text}"
    return f"{text}\n\n{plain(report.output, 300)}"


def _sizes(before: int, after: int) -> tuple[str, str, str]:
    return size(before), size(after), f"{after / before:.0%}" if before else ""
