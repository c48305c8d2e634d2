"""`mezzotint bench`: benchmark model quality, attention and quantized matmul speed, and memory use."""

import argparse
import contextlib
import io
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.job.settings import request_of
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer, size, text
from mezzotint.cli.bench import architectures as bench_architectures
from mezzotint.cli.bench import attention as bench_attention
from mezzotint.cli.bench import linear as bench_linear
from mezzotint.cli.bench import memory as bench_memory
from mezzotint.cli.bench import quality as bench_quality
from mezzotint.cli.bench import training_memory as bench_training_memory
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.generate_options import add_engine_options, add_option, options_of
from mezzotint.cli.reporter import Reporter
from mezzotint.control_protocol import ControlRef
from mezzotint.errors import UnknownModel, UsageError
from mezzotint.options import Options
from mezzotint.protocol import Event, GenerateResult, ModelRef, Step

if TYPE_CHECKING:
    from PIL.Image import Image

    from mezzotint.benchmarks.postcards.judge import Judge
    from mezzotint.benchmarks.postcards.scoring import EvalCase, Score, Share
    from mezzotint.benchmarks.postcards.world import Scene
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands
    from mezzotint.engine import Engine

PROMPTS = 200
_DRAWN_SIZE = 256  # of reference images, in pixels
EXAMPLES = """\
  mezzotint bench starter
  mezzotint bench starter -m starter-dit --prompts 500 --steps 10 --guidance 4 --json
  mezzotint bench starter --hires 2 --keep out/
  mezzotint bench starter -m starter-flow --edits --prompts 100
  mezzotint bench starter -m starter-xl --layout starter-edges
  mezzotint bench starter -m starter-dit --lora zibble.safetensors --new-word "zibble=purple castle" --prompts 24
  mezzotint bench starter -m starter-xl --refiner starter-xl-refiner --prompts 48 --sheet sheet.png

accuracy: how often the judge, a small network that has only ever seen drawn scenes, sees in an image what the prompt
  asked for, with its 95 % interval (Wilson's); chance is the best blind guess. No training image showed these scenes.
distance: Frechet's, squared, in the judge's features, to drawn images of the same scenes. It depends on --prompts:
  compare with what other drawings of the scenes get.
edited, all (--edits): how often the judge sees what the instruction asked for, and how often it sees everything as it
  should be after the edit: an image left as it is gets 0.
layout (--layout): how often an image's edges agree better with those of the drawing that it is to follow than with
  those of fifteen other drawings of the same scene. Prompts do not state the place of things then.
detail: the mean absolute Laplacian of the luminance, as a share of that of the drawn images; noise counts too.
seconds: compute time of one image, without loading and saving.
"""


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    summary = "Benchmark image quality, speed of attention and matrix products, and memory use."
    below = add_command(commands, "bench", summary).add_subparsers(
        title="commands", metavar="COMMAND", dest="bench_command", required=True
    )
    bench_architectures.add(below)
    bench_attention.add(below)
    bench_linear.add(below)
    bench_memory.add(below)
    bench_quality.add(below)
    bench_training_memory.add(below)
    summary = "Score the starter models on scenes that were held out from training."
    parser = add_command(below, "starter", summary, run, EXAMPLES)
    parser.add_argument(
        "-m",
        "--model",
        dest="models",
        metavar="MODEL",
        action="append",
        default=[],
        help="an id of `mezzotint models list`, or a path (may be repeated; default: every bundled model)",
    )
    parser.add_argument(
        "--prompts",
        metavar="N",
        type=integer(2, 100_000, PROMPTS),
        default=PROMPTS,
        help=f"images of each model (default: {PROMPTS})",
    )
    parser.add_argument(
        "--edits",
        action="store_true",
        help="edit drawings by an instruction instead, with a model that takes reference images",
    )
    parser.add_argument(
        "--layout",
        metavar="CONTROLNET",
        type=text,
        help="the images are to follow the edges of drawings, by this ControlNet, such as starter-edges; none: not",
    )
    parser.add_argument(
        "--new-word",
        metavar="WORD=COLOUR KIND",
        type=text,
        help="images of a word that a LoRA has taught, such as 'zibble=purple castle', instead of held-out scenes",
    )
    add_option(parser, "lora")
    parser.add_argument("--size", metavar="WxH", type=size, help="pixels, square (default: the model's default)")
    parser.add_argument("--negative", metavar="TEXT", type=text, help="negative prompt (default: none)")
    parser.add_argument(
        "--judge", metavar="DIR", type=Path, help="the judge's folder (default: the one that comes with the program)"
    )
    parser.add_argument("--keep", metavar="DIR", help="keep the images in this folder (default: they are deleted)")
    parser.add_argument("--sheet", metavar="FILE", type=Path, help="write a contact sheet of one model's images, a PNG")
    parser.add_argument(
        "--enlarge",
        metavar="N",
        type=integer(2, 8, 2),
        help="upscale the images by this factor (Lanczos) before judging: a baseline for the hires fix",
    )
    add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_engine_options(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Generate the images, score them with the judge network, and print the scores."""
    from mezzotint.benchmarks.postcards.judge import bundled_judge, load_judge
    from mezzotint.benchmarks.postcards.scoring import score_drawn

    judge = load_judge(arguments.judge or bundled_judge())
    catalog = context.make_catalog(arguments.models_folder)
    models = _models(arguments.models, catalog)
    _check_sheet(arguments.sheet, models)
    cases = _cases(arguments)
    scores = {}
    with contextlib.closing(context.make_engine(catalog)) as engine:
        for model in models:
            options = options_of(arguments)
            bench = _Bench(engine, context, options, cases, arguments.enlarge or 1, arguments.layout)
            scores[model] = bench.score(model, judge, arguments.keep, arguments.sheet)
    drawn = score_drawn(judge, cases)
    if arguments.json:
        context.terminal.json({"models": scores, "judge": drawn})
    else:
        context.terminal.result(_table(scores, drawn))
    return 0


def _cases(arguments: argparse.Namespace) -> "list[EvalCase]":
    from mezzotint.benchmarks.postcards.scoring import edit_cases, eval_cases, layout_cases, word_cases

    if sum(map(bool, (arguments.edits, arguments.layout, arguments.new_word))) > 1:
        raise UsageError("--edits, --layout and --new-word exclude each other: give one")
    if arguments.new_word is None:
        kind = edit_cases if arguments.edits else layout_cases if arguments.layout else eval_cases
        return list(kind(arguments.prompts))
    word, _, thing = arguments.new_word.partition("=")
    colour, _, kind = thing.strip().rpartition(" ")
    if not word.strip() or not colour:
        raise UsageError("--new-word takes a word and what it stands for, such as 'zibble=purple castle'")
    return list(word_cases(word.strip(), kind, colour.strip(), arguments.prompts))


def _models(named: Sequence[str], catalog: "Catalog") -> list[str]:
    """Return the ids of the models to score. Raises for an unusable one, before any image is generated."""
    if named:
        return list(dict.fromkeys(catalog.find(ModelRef(id=name)).info.id for name in named))
    bundled = [info for info in catalog.models() if info.source == "bundled" and info.problem is None]
    models = [info.id for info in bundled if info.variant != "refiner"]  # a refiner generates no image alone
    if not models:
        raise UnknownModel("no bundled model is here; name one of `mezzotint models list` with --model")
    return models


def _check_sheet(sheet: Path | None, models: Sequence[str]) -> None:
    if sheet is None:
        return
    if len(models) > 1:
        raise UsageError(f"--sheet shows one model, and {len(models)} are asked: name one with --model")
    if sheet.suffix.lower() != ".png":
        raise UsageError(f"--sheet {plain(sheet, 200)}: expected a name that ends in .png")

    if sheet.exists():
        raise UsageError(f"--sheet {plain(sheet, 200)} exists already; give another name")


def _write_sheet(image: "Image", path: Path) -> None:
    from mezzotint.atomic import atomic_write

    data = io.BytesIO()
    image.save(data, "PNG", optimize=True)
    atomic_write(path, data.getvalue(), overwrite=True)


class _Bench:
    """Generates and scores images with one engine."""

    def __init__(
        self,
        engine: "Engine",
        context: Context,
        options: Options,
        cases: "Sequence[EvalCase]",
        enlarge: int,
        controlnet: str | None,
    ) -> None:
        self._engine, self._context, self._options = engine, context, options
        self._cases, self._enlarge, self._controlnet = cases, enlarge, controlnet

    def score(self, model: str, judge: "Judge", keep: str | None, sheet: Path | None) -> "Score":
        """Generate the model's images and judge each."""
        from mezzotint.benchmarks.postcards.contact_sheet import contact_sheet
        from mezzotint.benchmarks.postcards.scoring import Scorer

        self._context.terminal.message(f"{plain(model, 100)}: {len(self._cases)} images")
        scorer = Scorer(judge)
        shown: list[Image] = []
        with _folder(keep) as folder, Reporter(self._context, "json") as reporter:
            for case in self._cases:
                result = self._generate(model, case, folder, reporter)
                image = self._read_image(Path(result.images[0].path))
                scorer.add(case, image, _seconds(result))
                shown += [image] if sheet else []
        if sheet:
            _write_sheet(contact_sheet(shown, columns=8), sheet)
        return scorer.score()

    def _read_image(self, path: Path) -> "Image":
        from PIL.Image import Resampling

        from mezzotint.images.reading import read_image

        image = read_image(path)
        if self._enlarge == 1:
            return image
        return image.resize((image.width * self._enlarge, image.height * self._enlarge), Resampling.LANCZOS)

    def _generate(self, model: str, case: "EvalCase", folder: str, reporter: Reporter) -> GenerateResult:
        options = self._options.replace(
            model=model,
            prompt=case.prompt,
            seed=case.number,
            output=f"{folder}/[model]-[seed].png",
            reference=_references(case, folder),
            control=_controls(case, self._controlnet, folder),
        )

        def on_event(event: Event) -> None:
            reporter.on_event(_overall_step(event, case.number, len(self._cases)))

        return self._engine.generate(request_of(options), on_event, self._context.interrupt.stop_requested)


def _references(case: "EvalCase", folder: str) -> tuple[str, ...]:
    """Save a drawing of the scene before the case's edit; none if it is not an edit."""
    return () if case.edit is None else (_drawn(case.edit.before, Path(folder) / f"before-{case.number}.png"),)


def _controls(case: "EvalCase", controlnet: str | None, folder: str) -> tuple[ControlRef, ...]:
    """Save the drawing that the case's image is to follow."""
    if not case.drawn or controlnet is None or controlnet == "none":
        return ()
    image = _drawn(case.scene, Path(folder) / f"drawing-{case.number}.png")
    return (ControlRef(image=image, model=controlnet, preprocess="canny"),)


def _drawn(scene: "Scene", path: Path) -> str:
    from mezzotint.benchmarks.postcards.painting import paint

    path.parent.mkdir(parents=True, exist_ok=True)
    paint(scene, _DRAWN_SIZE).save(path)
    return str(path)


def _overall_step(event: Event, done: int, count: int) -> Event:
    """Renumber a step of one image as a step of all images, so that the time remaining covers the whole run."""
    if not isinstance(event, Step):
        return event
    each = event.stages * event.steps
    return replace(
        event, stage=0, stages=1, step=done * each + event.stage * event.steps + event.step, steps=count * each
    )


def _seconds(result: GenerateResult) -> float:
    timings = result.timings
    return timings.encode + sum(timings.denoise) + timings.decode


@contextlib.contextmanager
def _folder(keep: str | None) -> Iterator[str]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="mezzotint-bench-") as folder:
        yield folder


def _table(scores: Mapping[str, "Score"], drawn: "Score") -> str:
    """Format a column for each model, and one for drawn images judged the same way."""
    every = [*scores.values(), drawn]
    rows = [("", "CHANCE", *(plain(model, 100) for model in scores), "DRAWN")]
    for name, share in drawn.attributes.items():
        rows.append((name, f"{share.chance:.3f}", *(_format_share(score.attributes[name]) for score in every)))
    rows += [
        (name, "", *(_format_share(each.edits[name]) for each in every if each.edits)) for name in drawn.edits or ()
    ]
    followed = [score.layout for score in scores.values() if score.layout is not None]
    if followed:
        rows.append(("layout", f"{followed[0].chance:.3f}", *map(_format_share, followed), ""))
    rows.append(("distance", "", *(f"{score.frechet:.3f}" for score in every)))
    rows.append(("detail", "", *(f"{score.detail:.3f}" for score in every)))
    rows.append(("seconds", "", *("" if score.seconds is None else f"{score.seconds:.2f}" for score in every)))
    return columns(rows)


def _format_share(share: "Share") -> str:
    return f"{share.accuracy:.3f} ({share.low:.3f} to {share.high:.3f})"
