"""`mezzotint bench quality`: measure what quantization schemes and speed options lose and save."""

import argparse
import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.job.settings import request_of
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.argument_types import integer
from mezzotint.cli.bench.speed_variants import ATTENTION, NAMES, refusal, values_of, variants
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.generate_options import add_engine_options, add_option, options_of
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import UnknownModel, UsageError
from mezzotint.options import Options
from mezzotint.protocol import SCHEMES, ModelRef

if TYPE_CHECKING:
    from PIL.Image import Image

    from mezzotint.benchmarks.postcards.fidelity import Fidelity
    from mezzotint.benchmarks.postcards.judge import Judge
    from mezzotint.benchmarks.postcards.scoring import EvalCase, Score
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands
    from mezzotint.conversion.report import LayerReport
    from mezzotint.engine import Engine
    from mezzotint.quantization.policy import Choice

CALIBRATED = ("svdquant",)  # as in conversion/auto/layers.py, which imports torch
CONVOLUTIONS = "int8-convolutions"  # scheme int8 of a copy, with 8-bit inputs of convolutions
_SIMULATED = ("attention=int8", "attention=flash-fp16")
PROMPTS = 100
EXAMPLES = """\
  mezzotint bench quality
  mezzotint bench quality -m starter-dit --prompts 400 --plot loss.png
  mezzotint bench quality -m sdxl-base --layers --schemes int4,int4-lowrank
  mezzotint bench quality -m starter-dit --speed tokens=todo,tokens=merge:0.3,step-cache=0.1
  mezzotint bench quality -m starter-dit --size 256x256 --speed sparse-attention=pooled:0.5
  mezzotint bench quality -m starter-dit --size 256x256 --speed attention=int8,attention=int8-all

psnr: decibels between each image and the plain model's of the same prompt and seed; the mean, and the worst.
features: how far it moves in the judge's features, as a share of their length.
accuracy: how much more, or less, often the judge sees what the prompt asked for; the paired 95 % interval, in points.
weights: size of the denoiser, with unquantized weights in 16 bits.
memory: peak of one image: on a GPU, what torch allocated; on a CPU, that of a whole process that generates it.
seconds: compute time of one image.
On a processor attention=flash-fp16, =int8, =int8-all and =int8-fp8 are simulated by torch, for head sizes up to 128.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeQuality:
    """The results of one scheme of one model."""

    fidelity: "Fidelity | None"  # None for the plain model
    score: "Score"
    weight_bytes: int
    peak_bytes: int | None  # VRAM; on a CPU, RAM of a separate process; None if that ended early


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Compare quantization schemes or speed options with the plain model, prompt by prompt."
    parser = add_command(commands, "quality", summary, run, EXAMPLES)
    parser.add_argument(
        "-m", "--model", dest="models", metavar="MODEL", action="append", default=[],
        help="an id of `mezzotint models list`, or a path (may be repeated; default: every bundled model)",
    )  # fmt: skip
    parser.add_argument(
        "--schemes", metavar="LIST", type=_schemes, help="comma-separated schemes (default: all, or none with --speed)"
    )
    parser.add_argument(
        "--speed", metavar="LIST", type=variants, default=(),
        help=f"comma-separated NAME=VALUE of {', '.join(NAMES)}, each compared with neither of them; those that a "
        "model cannot have are left out",
    )  # fmt: skip
    parser.add_argument(
        "--prompts", metavar="N", type=integer(2, 100_000, PROMPTS), default=PROMPTS,
        help=f"images of each model and scheme (default: {PROMPTS})",
    )  # fmt: skip
    parser.add_argument(
        "--layers", action="store_true", help="print the error of each layer instead of generating images"
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="plot loss against size, as a .png")
    parser.add_argument("--judge", metavar="DIR", type=Path, help="the judge's folder (default: the bundled one)")
    add_option(parser, "size")
    add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_engine_options(parser)
    add_models_folder(parser)


def _schemes(words: str) -> tuple[str, ...]:
    known = (*SCHEMES, CONVOLUTIONS)
    options = [word.strip() for word in words.split(",")]
    unknown = [word for word in options if word not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not a scheme; expected one of {', '.join(known)}")
    return tuple(dict.fromkeys(options))


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Measure and print the results."""
    if arguments.plot is not None and arguments.plot.suffix.lower() != ".png":
        raise UsageError(f"--plot {plain(arguments.plot, 200)}: expected a name that ends in .png")
    catalog = context.make_catalog(arguments.models_folder)
    models = _models(arguments.models, catalog)
    schemes = arguments.schemes if arguments.schemes is not None else (() if arguments.speed else SCHEMES)
    if arguments.layers:
        return _run_layers(arguments, context, catalog, models, schemes)
    from mezzotint.benchmarks.postcards.judge import bundled_judge, load_judge

    judge = load_judge(arguments.judge or bundled_judge())
    simulated = any(each.startswith(_SIMULATED) for each in arguments.speed) and _on_processor(arguments.device)
    with contextlib.closing(_simulating(catalog) if simulated else context.make_engine(catalog)) as engine:
        bench = _Bench(engine, catalog, context, options_of(arguments), judge, arguments.models_folder)
        found = {model: bench.measure(model, (*schemes, *arguments.speed), arguments.prompts) for model in models}
    if arguments.plot is not None:
        _draw(found, arguments.plot)
    if arguments.json:
        context.terminal.json({"models": found})
    else:
        context.terminal.result("\n\n".join(_table(model, schemes) for model, schemes in found.items()))
    return 0


def _on_processor(asked: str | None) -> bool:
    from mezzotint import machine

    return machine.choose_device(asked or "auto", machine.devices()).id == "cpu"


def _simulating(catalog: "Catalog") -> "Engine":
    """An engine whose 8-bit attention is computed by torch, exactly as the kernels would."""
    from mezzotint.attention.simulated import SimulatedBackends
    from mezzotint.engine import Engine

    return Engine(catalog, attention=SimulatedBackends())


def _models(named: Sequence[str], catalog: "Catalog") -> list[str]:
    if named:
        return list(dict.fromkeys(catalog.find(ModelRef(id=name)).info.id for name in named))
    bundled = [info for info in catalog.models() if info.source == "bundled" and info.problem is None]
    models = [info.id for info in bundled if info.variant != "refiner"]  # a refiner generates no image alone
    if not models:
        raise UnknownModel("no bundled model is here; name one of `mezzotint models list` with --model")
    return models


class _Bench:
    """Generates the same images by each scheme or speed option, called variants here, with one engine."""

    def __init__(
        self,
        engine: "Engine",
        catalog: "Catalog",
        context: Context,
        options: Options,
        judge: "Judge",
        folders: Sequence[Path],
    ) -> None:
        self._engine, self._catalog, self._context, self._options = engine, catalog, context, options
        self._judge, self._folders = judge, folders
        self._copies: dict[tuple[str, str], Path] = {}  # quantized ones, by model and scheme

    def measure(self, model: str, schemes: Sequence[str], count: int) -> dict[str, SchemeQuality]:
        """Measure the plain model and each variant that it can have; schemes that are calibrated, in copies."""
        with tempfile.TemporaryDirectory(prefix="mezzotint-bench-") as folder:
            for scheme in schemes:
                if scheme in (*CALIBRATED, CONVOLUTIONS):
                    self._copies[model, scheme] = self._copy(model, scheme, Path(folder) / scheme)
            return self._measured(model, schemes, count)

    def _copy(self, model: str, scheme: str, output: Path) -> Path:
        """Write a quantized copy of a model, whose inputs are measured first where that matters."""
        from mezzotint.conversion.model import Conversion, convert
        from mezzotint.families.known import family_of
        from mezzotint.jobs.calibration.inputs import input_magnitudes

        found = self._catalog.find(ModelRef(id=model))
        output = output.with_suffix("" if found.checkpoint.path.is_dir() else ".safetensors")
        choice, device = _choice(scheme), self._options.device or "auto"
        self._context.terminal.message(f"{plain(model, 100)}, {scheme}: quantizing")
        with Reporter(self._context, "json") as reporter:
            stop = self._context.interrupt.stop_requested
            measured = (found, choice, self._engine, device, reporter.on_event, stop)
            magnitudes = input_magnitudes(*measured) if scheme in CALIBRATED else {}
        sources = family_of(found.detected.family).sources(found.checkpoint, found.detected)
        component = family_of(sources.family).denoiser_component
        balances = {component: magnitudes}
        convert(Conversion(sources=sources, choices={component: choice}, balances=balances, output=output))
        return output

    def _measured(self, model: str, schemes: Sequence[str], count: int) -> dict[str, SchemeQuality]:
        schemes = [scheme for scheme in schemes if self._is_possible(model, scheme)]
        self._engine.close()  # its networks would take memory beside those of the measured processes
        peaks = self._peaks(model, ("none", *(each for each in schemes if not each.startswith(f"{ATTENTION}="))))
        exact, whole = self._images(model, "none", count, None)
        measured = {"none": whole}
        for scheme in schemes:
            measured[scheme] = self._images(model, scheme, count, exact)[1]
        return {
            scheme: replace(found, peak_bytes=peaks.get(scheme, found.peak_bytes)) for scheme, found in measured.items()
        }

    def _is_possible(self, model: str, variant: str) -> bool:
        more = values_of(variant) if "=" in variant else {}
        why = refusal(self._catalog.find(ModelRef(id=model)), self._options.replace(**more))
        if why:
            self._context.terminal.message(f"{plain(model, 100)}, {variant}: left out: {plain(why, 300)}")
        return not why

    def _peaks(self, model: str, schemes: Sequence[str]) -> dict[str, int | None]:
        """Return the peak RAM of each scheme on a CPU; empty on a GPU."""
        from mezzotint import machine
        from mezzotint.benchmarks.postcards.scoring import eval_cases
        from mezzotint.cli.bench import scheme_memory

        if machine.choose_device(self._options.device or "auto", machine.devices()).id.startswith("cuda"):
            return {}
        first = next(iter(eval_cases(1)))
        peaks: dict[str, int | None] = {}
        with tempfile.TemporaryDirectory(prefix="mezzotint-bench-") as folder:
            for scheme in schemes:
                self._context.terminal.message(f"{plain(model, 100)}, {scheme}: memory")
                options = self._options_for(model, scheme, first, folder)
                peaks[scheme] = scheme_memory.peak_in_own_process(
                    request_of(options), self._folders, self._context.interrupt.stop_requested
                )
        return peaks

    def _options_for(self, model: str, scheme: str, case: "EvalCase", folder: str) -> Options:
        output = f"{folder}/[seed].png"
        how = {"quant": "none", **values_of(scheme)} if "=" in scheme else {"quant": scheme}
        if (model, scheme) in self._copies:
            model, how = str(self._copies[model, scheme]), {"quant": "none"}
        options = self._options.replace(model=model, output=output, **how)
        return options.replace(prompt=case.prompt, seed=case.number)

    def _images(
        self, model: str, scheme: str, count: int, exact: "Sequence[Image] | None"
    ) -> "tuple[list[Image], SchemeQuality]":
        from mezzotint.benchmarks.postcards.fidelity import Comparison
        from mezzotint.benchmarks.postcards.scoring import Scorer, eval_cases
        from mezzotint.images.reading import read_image

        self._context.terminal.message(f"{plain(model, 100)}, {scheme}: {count} images")
        scorer, comparison = Scorer(self._judge), Comparison(self._judge)
        images: list[Image] = []
        peak: int | None = None
        with (
            tempfile.TemporaryDirectory(prefix="mezzotint-bench-") as folder,
            Reporter(self._context, "json") as reporter,
        ):
            for case in eval_cases(count):
                options = self._options_for(model, scheme, case, folder)
                result = self._engine.generate(
                    request_of(options), reporter.on_event, self._context.interrupt.stop_requested
                )
                image = read_image(Path(result.images[0].path))
                timings = result.timings
                scorer.add(case, image, timings.encode + sum(timings.denoise) + timings.decode)
                if exact is not None:
                    comparison.add(case, exact[case.number], image)
                images.append(image)
                peak = result.memory.peak_vram_bytes
        quality = SchemeQuality(
            fidelity=None if exact is None else comparison.result(),
            score=scorer.score(),
            weight_bytes=_weight_bytes(self._catalog, model, scheme),
            peak_bytes=peak,
        )
        return images, quality


def _weight_bytes(catalog: "Catalog", model: str, scheme: str) -> int:
    from mezzotint.families.known import family_of
    from mezzotint.families.loading.network_bytes import network_bytes

    found = catalog.find(ModelRef(id=model))
    family = family_of(found.detected.family)
    source = family.sources(found.checkpoint, found.detected).components[family.denoiser_component]
    return network_bytes(source, _choice(scheme) if scheme in (*SCHEMES, CONVOLUTIONS) else None)


def _choice(scheme: str) -> "Choice":
    from mezzotint.quantization.policy import Choice

    if scheme == CONVOLUTIONS:
        return Choice(scheme="int8", int8_convolutions=True)
    return Choice(scheme=scheme)  # type: ignore[arg-type]  # --schemes excludes `auto` and `none`


def _table(model: str, schemes: Mapping[str, SchemeQuality]) -> str:
    rows = [(plain(model, 100), "PSNR", "WORST", "FEATURES", "ACCURACY", "WEIGHTS", "SHARE", "MEMORY", "SECONDS")]
    whole = schemes["none"].weight_bytes
    for name, found in schemes.items():
        memory = "" if found.peak_bytes is None else size(found.peak_bytes)
        seconds = f"{found.score.seconds or 0:.2f}"
        weights = (size(found.weight_bytes), f"{found.weight_bytes / whole:.0%}", memory, seconds)
        near = found.fidelity
        if near is None:
            rows.append((name, "", "", "", "", *weights))
            continue
        points = near.accuracy
        accuracy = f"{100 * points.difference:+.2f} ({100 * points.low:+.2f} to {100 * points.high:+.2f})"
        rows.append((name, f"{near.psnr:.1f}", f"{near.worst_psnr:.1f}", f"{near.features:.3f}", accuracy, *weights))
    return columns(rows)


def _draw(found: Mapping[str, Mapping[str, SchemeQuality]], path: Path) -> None:
    from mezzotint.benchmarks.scatter_chart import Point, ScatterChart, draw_scatter

    points = [
        Point(
            group=model,
            label=name,
            x=100 * each.weight_bytes / schemes["none"].weight_bytes,
            y=0.0 if each.fidelity is None else 100 * each.fidelity.features,
        )
        for model, schemes in found.items()
        for name, each in schemes.items()
    ]
    chart = ScatterChart(
        title="What quantization loses",
        x_name="weights, % of those in 16 bits",
        y_name="distance in the judge's features, %",
        points=points,
    )
    draw_scatter(chart, path)


def _run_layers(
    arguments: argparse.Namespace, context: Context, catalog: "Catalog", models: Sequence[str], asked: Sequence[str]
) -> int:
    """Print the quantization error of each layer's weight; works for any model."""
    found = {model: {scheme: _layers(catalog, model, scheme, context) for scheme in asked}
             for model in models}  # fmt: skip
    if arguments.json:
        context.terminal.json({"models": found})
        return 0
    for model, schemes in found.items():
        rows = [("LAYER", *schemes)]
        each = {scheme: {layer.name: f"{layer.error:.2%}" for layer in layers} for scheme, layers in schemes.items()}
        names = dict.fromkeys(name for layers in each.values() for name in layers)
        rows += [(name, *(layers.get(name, "") for layers in each.values())) for name in names]
        context.terminal.result(f"{plain(model, 100)}\n{columns(rows)}")
    return 0


def _layers(catalog: "Catalog", model: str, scheme: str, context: Context) -> "tuple[LayerReport, ...]":
    from mezzotint.conversion.model import layer_errors
    from mezzotint.families.known import family_of

    found = catalog.find(ModelRef(id=model))
    family = family_of(found.detected.family)
    sources = family.sources(found.checkpoint, found.detected)
    return tuple(
        layer_errors(sources, family.denoiser_component, _choice(scheme), cancelled=context.interrupt.stop_requested)
    )
