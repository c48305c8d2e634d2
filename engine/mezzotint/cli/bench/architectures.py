"""`mezzotint bench architectures`: variants of a model side by side, the literature's claims, and scaling."""

import argparse
import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.job.settings import request_of
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.plain_text import size as bytes_of
from mezzotint.cli.argument_types import integer, size
from mezzotint.cli.bench.attention import chart_file
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.generate_options import add_engine_options, options_of
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import Cancelled
from mezzotint.protocol import ModelRef

if TYPE_CHECKING:
    from PIL.Image import Image

    from mezzotint.benchmarks.architectures.claims import Claim
    from mezzotint.benchmarks.architectures.scaling import ScalingRow
    from mezzotint.benchmarks.postcards.fidelity import Fidelity
    from mezzotint.benchmarks.postcards.judge import Judge
    from mezzotint.benchmarks.postcards.scoring import Score
    from mezzotint.catalog.catalog import FoundModel
    from mezzotint.cli.command_options import Commands
    from mezzotint.engine import Engine
    from mezzotint.families.family import Network
    from mezzotint.options import Options

PROMPTS = 100
EXAMPLES = """\
  mezzotint bench architectures
  mezzotint bench architectures -m starter-dit -m build/starter/models/pyramid --prompts 100
  mezzotint bench architectures --scaling --plot scaling.svg

object, colour: how often the judge sees in an image what the prompt asked for, with the 95 % interval.
distance, detail: as in `mezzotint bench starter`.
psnr: decibels between each image and the first model's of the same prompt and seed.
GFLOPs, memory: operations and activations of one forward pass of the denoiser.
claims: what the literature says, and what counting the operations of real layers gives.
scaling (--scaling): each kind of attention at 64 to 16384 tokens, 4 heads of 32, in float32 on the CPU, and the slopes
  fitted from 1024 tokens on: n tokens take n ^ slope.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRow:
    """One model."""

    model: str
    score: "Score"
    fidelity: "Fidelity | None"  # to the first model's images; None for the first
    parameters: int  # of the denoiser
    operations: float  # FLOPs of a forward pass
    activation_bytes: int


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Compare architectures: models with the first, claims with what is counted, and how attention scales."
    parser = add_command(commands, "architectures", summary, run, EXAMPLES)
    parser.add_argument(
        "-m", "--model", dest="models", metavar="MODEL", action="append", default=[],
        help="a model that the judge can score (may be repeated; the others are compared with the first)",
    )  # fmt: skip
    parser.add_argument(
        "--prompts", metavar="N", type=integer(2, 100_000, PROMPTS), default=PROMPTS,
        help=f"images of each model (default: {PROMPTS})",
    )  # fmt: skip
    parser.add_argument("--size", metavar="WxH", type=size, help="pixels, square (default: each model's default)")
    parser.add_argument("--scaling", action="store_true", help="measure how kinds of attention scale")
    parser.add_argument(
        "--most-tokens", metavar="N", type=integer(1024, 65536, 16384), default=16384,
        help="with --scaling, up to so many tokens (default: 16384)",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", type=chart_file, help="plot the slopes as this .svg or .png")
    parser.add_argument("--judge", metavar="DIR", type=Path, help="the judge's folder (default: the bundled one)")
    add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_engine_options(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Compute the claims, measure the models and the scaling that are asked for, and print tables."""
    from mezzotint.benchmarks.architectures.claims import claims
    from mezzotint.benchmarks.architectures.scaling import slopes

    variants = _variants(arguments, context) if arguments.models else []
    found = list(claims())
    rows = _scaling(arguments.most_tokens, context) if arguments.scaling else []
    if arguments.json:
        context.terminal.json({"models": variants, "claims": found, "scaling": rows, "slopes": slopes(rows)})
    else:
        tables = [_variant_table(variants)] if variants else []
        tables += [_claim_table(found)]
        tables += [_scaling_table(rows), _slope_table(rows)] if rows else []
        context.terminal.result("\n\n".join(tables))
    if arguments.plot is not None:
        _plot(rows, arguments.plot)
    return 0


# ---- models


def _variants(arguments: argparse.Namespace, context: Context) -> list[VariantRow]:
    from mezzotint.benchmarks.postcards.judge import bundled_judge, load_judge

    judge, catalog = load_judge(arguments.judge or bundled_judge()), context.make_catalog(arguments.models_folder)
    found = {each.info.id: each for each in (catalog.find(ModelRef(id=name)) for name in arguments.models)}
    rows: list[VariantRow] = []
    first: list[Image] = []
    with contextlib.closing(context.make_engine(catalog)) as engine:
        for model in found.values():
            bench = _Bench(engine, context, options_of(arguments), judge, arguments.prompts)
            rows.append(bench.measure(model, first))
    return rows


class _Bench:
    """Generates and scores images with one engine."""

    def __init__(self, engine: "Engine", context: Context, options: "Options", judge: "Judge", count: int) -> None:
        self._engine, self._context, self._options = engine, context, options
        self._judge, self._count = judge, count

    def measure(self, model: "FoundModel", first: "list[Image]") -> VariantRow:
        """Measure a model; `first` has the first model's images, and is filled with them."""
        from mezzotint.benchmarks.postcards.fidelity import Comparison
        from mezzotint.benchmarks.postcards.scoring import Scorer, eval_cases
        from mezzotint.images.reading import read_image

        self._context.terminal.message(f"{plain(model.info.id, 100)}: {self._count} images")
        scorer, comparison, exact = Scorer(self._judge), Comparison(self._judge), list(first)
        with (
            tempfile.TemporaryDirectory(prefix="mezzotint-bench-") as folder,
            Reporter(self._context, "json") as reporter,
        ):
            for case in eval_cases(self._count):
                options = self._options.replace(
                    model=model.info.id, prompt=case.prompt, seed=case.number, output=f"{folder}/[seed].png"
                )
                stops = self._context.interrupt.stop_requested
                result = self._engine.generate(request_of(options), reporter.on_event, stops)
                image, timings = read_image(Path(result.images[0].path)), result.timings
                scorer.add(case, image, timings.encode + sum(timings.denoise) + timings.decode)
                if exact and exact[case.number].size == image.size:
                    comparison.add(case, exact[case.number], image)
                elif not exact:
                    first.append(image)
        parameters, operations, activations = _facts(model, self._options.size)
        return VariantRow(
            model=model.info.id,
            score=scorer.score(),
            fidelity=comparison.result() if comparison.pairs > 1 else None,
            parameters=parameters,
            operations=operations,
            activation_bytes=activations,
        )


def _facts(model: "FoundModel", side: tuple[int, int] | None) -> tuple[int, float, int]:
    """Parameters of a denoiser, FLOPs and bytes of activations of a forward pass at this size, or the usual one."""
    from mezzotint.families.footprints import footprint_of, prompt_tokens
    from mezzotint.families.known import family_of
    from mezzotint.families.loading.networks import empty_network

    family = family_of(model.detected.family)
    sources = family.sources(model.checkpoint, model.detected)
    footprint = footprint_of(sources, model_id=model.info.id)
    width, height = side or (footprint.width, footprint.height)
    positions = width * height / footprint.vae_factor**2
    source, part = sources.components[family.denoiser_component], footprint.denoiser
    network = empty_network(source)
    parameters = sum(each.numel() for each in network.parameters())
    operations = part.work.at(positions)
    if source.library == "mezzotint":  # traced as if they attended to everything
        side_of_latents = round(positions**0.5)
        operations = _counted_operations(network, source.class_name, side_of_latents, prompt_tokens(sources))
    return parameters, operations, int(part.live.at(positions, 1))


def _counted_operations(network: "Network", class_name: str, side: int, tokens: int) -> float:
    """FLOPs of a forward pass with weights of zero, at a side of latents and a length of the prompt."""
    import torch

    from mezzotint.memory.footprints.forward_calls import known_call
    from mezzotint.memory.footprints.live_memory import counted

    for module in network.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = torch.nn.Parameter(torch.zeros(parameter.shape), requires_grad=False)
    with counted() as memory:
        known_call(class_name, network.eval(), side, 1, tokens)
    return memory.operations


def _variant_table(rows: Sequence[VariantRow]) -> str:
    table = [
        ("MODEL", "OBJECT", "COLOUR", "DISTANCE", "DETAIL", "PSNR", "PARAMETERS", "GFLOPS", "MEMORY", "SECONDS"),
    ]
    for row in rows:
        kind, colour = (row.score.attributes[name] for name in ("kind", "colour"))
        table.append(
            (
                plain(row.model, 100),
                f"{kind.accuracy:.2f} ({kind.low:.2f} to {kind.high:.2f})",
                f"{colour.accuracy:.2f} ({colour.low:.2f} to {colour.high:.2f})",
                f"{row.score.frechet:.0f}",
                f"{row.score.detail:.2f}",
                "" if row.fidelity is None else f"{row.fidelity.psnr:.1f}",
                f"{row.parameters / 1e6:.2f} M",
                f"{row.operations / 1e9:.3f}",
                bytes_of(row.activation_bytes),
                f"{row.score.seconds or 0:.2f}",
            )
        )
    return columns(table)


# ---- claims and scaling


def _claim_table(found: "Sequence[Claim]") -> str:
    table = [("CLAIM", "", "CLAIMED", "FOUND", "", "")]
    for each in found:
        verdict = "holds" if each.holds else "does not hold"
        table.append(
            (each.name, each.claimed, f"{each.claimed_value:.4g}", f"{each.found_value:.4g}", verdict, each.remark)
        )
    return columns(table)


def _scaling(most: int, context: Context) -> "list[ScalingRow]":
    from mezzotint.benchmarks.architectures.scaling import TOKENS, measure_scaling

    rows: list[ScalingRow] = []
    for row in measure_scaling([count for count in TOKENS if count <= most]):
        if context.interrupt.stop_requested():
            raise Cancelled(f"stopped after {len(rows)} measurements")
        rows.append(row)
        context.terminal.message(f"{row.kind}: {row.tokens} tokens")
    return rows


def _scaling_table(rows: "Sequence[ScalingRow]") -> str:
    table = [("ATTENTION", "TOKENS", "MFLOPS", "MEMORY", "MS")]
    table += [
        (row.kind, str(row.tokens), f"{row.operations / 1e6:.1f}", bytes_of(row.peak_bytes), f"{row.milliseconds:.2f}")
        for row in rows
    ]
    return columns(table)


def _slope_table(rows: "Sequence[ScalingRow]") -> str:
    from mezzotint.benchmarks.architectures.scaling import slopes

    table: list[tuple[str, ...]] = [("ATTENTION", "CLAIMED", "OPERATIONS", "MEMORY", "TIME")]
    table += [
        (each.kind, *(f"{value:.2f}" for value in (each.claimed, each.operations, each.memory, each.time)))
        for each in slopes(rows)
    ]
    return columns(table)


def _plot(rows: "Sequence[ScalingRow]", path: Path) -> None:
    from mezzotint.benchmarks.bar_chart import Bar, BarChart, draw

    counts = dict.fromkeys(row.tokens for row in rows)
    bars = tuple(
        Bar(group=f"{count} tokens", label=row.kind, value=row.milliseconds, strong=not row.kind.startswith("dense"))
        for count in counts
        for row in rows
        if row.tokens == count
    )
    draw(BarChart(title="Attention, 4 heads of 32, float32 on the CPU", unit="ms", bars=bars), path)
