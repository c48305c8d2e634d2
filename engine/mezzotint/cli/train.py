"""`mezzotint train`: train a LoRA or an embedding on a folder of images."""

import argparse
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.codec import encode
from mezzotint.errors import UsageError
from mezzotint.protocol import ModelRef, Progress
from mezzotint.training_protocol import (
    Checkpointing,
    EpochSaved,
    LossWeighting,
    NoiseLevelChoice,
    OptimizerName,
    Preparing,
    RateSchedule,
    Shard,
    TrainedLayers,
    TrainingAttention,
    TrainingDtype,
    TrainingEvent,
    TrainingNotice,
    TrainingRequest,
    TrainingResult,
    TrainingSettings,
    TrainingStep,
)

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.cli.progress import ProgressBar
    from mezzotint.jobs.training.preparing import Prepared

_EXAMPLES = """\
  mezzotint train assets/samples/train/zibble -m starter-dit -o zibble
  mezzotint generate "a zibble in the snow" -m starter-dit --lora zibble.safetensors
  mezzotint train photos -m sdxl-base -o loras/aunt-mary --trigger "aunt mary" --word woman --dry-run
  mezzotint train photos --from loras/aunt-mary.safetensors -o loras/aunt-mary-2 --seed 1
  mezzotint train --resume -o loras/aunt-mary
  mezzotint train photos -m sdxl-base -o loras/aunt-mary --devices 0,1 --batch 4

The folder holds images, each with its caption in a text file of the same name. Beside NAME.safetensors, the folder
NAME.training keeps everything else: the LoRA of each epoch, samples, the loss, and the state. Ctrl+C pauses.
"""
_PHASES = {
    "dataset": "reading the images",
    "regularization": "making regularization images",
    "captions": "encoding captions",
    "images": "encoding images",
    "loading": "loading the model",
}
_SETTINGS = TrainingSettings()


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "train", "Train a LoRA or an embedding on a folder of images.", run, _EXAMPLES)
    parser.add_argument("dataset", metavar="DIR", nargs="?", help="images and captions; not with --resume")
    parser.add_argument("-m", "--model", metavar="MODEL", help="the model that learns: an id or a path")
    parser.add_argument("-o", "--output", metavar="NAME", type=Path, required=True, help="the file to write")
    parser.add_argument(
        "--from",
        dest="recipe",
        metavar="FILE",
        type=Path,
        help="train again as this LoRA or embedding was, with what else is given here; DIR is still needed",
    )
    parser.add_argument("--resume", action="store_true", help="go on with a training that was paused or interrupted")
    parser.add_argument("--accept-changes", action="store_true", help="resume although the images have changed")
    parser.add_argument("--dry-run", action="store_true", help="check the images, and show what would be trained")
    parser.add_argument("--trigger", metavar="WORDS", default="", help="words that stand for what is learned")
    parser.add_argument(
        "--word", metavar="WORDS", default="", help="what that is: castle, woman, painting; an embedding begins as it"
    )
    parser.add_argument(
        "--sample",
        metavar="PROMPT",
        action="append",
        default=[],
        help="make this image in each epoch (may be repeated)",
    )
    _add_settings(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_json(parser)
    add_models_folder(parser)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for each field of TrainingSettings."""
    group = parser.add_argument_group("training", "unset: what suits the model")
    group.add_argument("--steps", type=integer(1, 1_000_000, 1500), metavar="N", help="optimizer steps")
    group.add_argument(
        "--kind",
        choices=("lora", "dora", "lokr", "embedding"),
        default="lora",
        help="what is trained: factors of layers, with magnitudes (dora), as Kronecker products (lokr), or the vectors "
        "of a word (embedding; sd15 and sdxl) (default: lora)",
    )
    group.add_argument("--rank", type=integer(1, 512, 16), metavar="N", help="rank of the LoRA")
    group.add_argument("--alpha", type=float, metavar="X", help="scale times the rank (default: the rank)")
    group.add_argument(
        "--layers",
        choices=get_args(TrainedLayers),
        default="attention",
        help="attention and feed-forward, or all: also the convolutions of U-Nets, modulation of transformers "
        "(default: attention)",
    )
    group.add_argument(
        "--ranks",
        metavar="PART=N,...",
        default="",
        help="other ranks for layers of the denoiser with these parts in their names: down_blocks=4,mid_block=16; "
        "0: not trained",
    )
    group.add_argument(
        "--factor", type=integer(1, 4096, 8), metavar="N", help="size of the smaller factor of a lokr (default: equal)"
    )
    group.add_argument(
        "--text-encoders", action="store_true", help="also train the text encoders of sd15 and sdxl, with a lower rate"
    )
    group.add_argument("--text-rate", type=float, metavar="X", help="their learning rate (default: a tenth)")
    group.add_argument(
        "--vectors", type=integer(1, 75, 4), metavar="N", default=1, help="vectors of an embedding (default: 1)"
    )
    group.add_argument("--rate", type=float, metavar="X", help="learning rate")
    group.add_argument("--batch", type=integer(1, 256, 4), metavar="N", help="images in each step")
    group.add_argument(
        "--accumulate", type=integer(1, 1024, 4), metavar="N", default=1, help="batches in each step (default: 1)"
    )
    group.add_argument("--resolution", type=integer(64, 4096, 1024), metavar="PIXELS", help="side of a square image")
    group.add_argument("--optimizer", choices=get_args(OptimizerName), default="adamw", help="default: adamw")
    group.add_argument("--schedule", choices=get_args(RateSchedule), default="constant", help="of the learning rate")
    group.add_argument("--levels", choices=get_args(NoiseLevelChoice), help="noise levels of flow models")
    group.add_argument("--weighting", choices=get_args(LossWeighting), help="of the loss, for other models")
    group.add_argument("--ema", type=float, metavar="X", default=0.0, help="decay of an average of the weights: 0.99")
    group.add_argument("--checkpointing", choices=get_args(Checkpointing), help="compute blocks again, to save memory")
    group.add_argument(
        "--quantization", choices=("none", "int8", "int8-weight", "int4"), default="none", help="of the frozen model"
    )
    group.add_argument("--dtype", choices=get_args(TrainingDtype), default="auto", help="default: auto")
    group.add_argument("--attention", choices=get_args(TrainingAttention), default="auto", help="default: auto")
    group.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, xpu, mps (default: auto)")
    group.add_argument(
        "--devices", metavar="LIST", type=_names, default=(), help="several, each with its share of a batch: 0,1"
    )
    group.add_argument(
        "--shard",
        choices=get_args(Shard),
        default="none",
        help="what is split over the devices, each with those before it (default: none)",
    )
    group.add_argument("--seed", type=integer(0, 2**32 - 1, 7), metavar="N", default=0, help="default: 0")
    group.add_argument("--epochs", type=integer(1, 1000, 10), metavar="N", default=10, help="LoRAs saved on the way")
    group.add_argument("--flip", action="store_true", help="also train on mirrored images")
    group.add_argument("--shuffle", action="store_true", help="shuffle captions at their commas")
    group.add_argument(
        "--keep-tokens", type=integer(0, 100, 1), metavar="N", default=1, help="but not the first N parts"
    )
    group.add_argument("--prefix", metavar="WORDS", default="", help="put before every caption")
    group.add_argument(
        "--caption-dropout",
        type=float,
        metavar="X",
        default=0.05,
        help="share of steps without caption (default: 0.05)",
    )
    group.add_argument(
        "--regularization",
        type=integer(0, 10_000, 32),
        metavar="N",
        help="images that the model makes itself, so that it does not forget; 0: none",
    )
    group.add_argument(
        "--validation", type=float, metavar="X", default=0.0, help="share of the images to test on, not to train on"
    )


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError("must be names or numbers with commas between them: 0,1")
    return names


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Check the images, or train: on several devices in a process for each, which run this very command."""
    request = _resumed(arguments) if arguments.resume else _request(arguments, context)
    if len(request.settings.devices) > 1 and "WORLD_SIZE" not in os.environ and not arguments.dry_run:
        from mezzotint.jobs.training.launcher import launch

        command = [sys.executable, "-P", "-m", "mezzotint", *arguments.words]
        return launch(command, len(request.settings.devices))
    return _train(request, arguments, context)


def _train(request: TrainingRequest, arguments: argparse.Namespace, context: Context) -> int:
    from mezzotint.jobs.training.preparing import prepare
    from mezzotint.jobs.training.run import TrainingRun
    from mezzotint.training.distributed import Processes

    catalog, stops = context.make_catalog(arguments.models_folder), context.interrupt.stop_requested
    if arguments.dry_run:
        _show(prepare(request, catalog, lambda _: None, stops), arguments, context)
        return 0
    processes, options = Processes.of_environment(), {"resume": arguments.resume}
    options["accept_changes"] = arguments.accept_changes
    if not processes.is_first:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first decides when all stop
        TrainingRun(request, catalog, lambda _: None, stops, processes).run(**options)
        return 0
    with _Reporter(context, is_json=arguments.json) as reporter:
        reporter.finish(TrainingRun(request, catalog, reporter.on_event, stops, processes).run(**options))
    return 0


def _request(arguments: argparse.Namespace, context: Context) -> TrainingRequest:
    if arguments.recipe is not None:
        return _repeated(arguments, context)
    if arguments.dataset is None or arguments.model is None:
        raise UsageError("a folder of images and a model are needed: mezzotint train DIR -m MODEL -o NAME")
    path = arguments.output.expanduser().resolve()
    fields = {name: getattr(arguments, name) for name in vars(_defaults())}
    return TrainingRequest(
        dataset=str(Path(arguments.dataset).expanduser().resolve()),
        model=ModelRef(id=arguments.model),
        name=path.name.removesuffix(".safetensors"),
        output=str(path.parent),
        trigger=arguments.trigger,
        word=arguments.word,
        prompts=tuple(arguments.sample),
        settings=replace(_SETTINGS, **fields),
    )


def _repeated(arguments: argparse.Namespace, context: Context) -> TrainingRequest:
    """The request of an earlier training, by the file that it wrote, changed by what is given."""
    from mezzotint.jobs.training.recipe import read_recipe

    if arguments.dataset is None:
        raise UsageError("--from has the settings, not the images: mezzotint train DIR --from FILE -o NAME")
    recipe, dataset = read_recipe(arguments.recipe), str(Path(arguments.dataset).expanduser().resolve())
    if not recipe.is_of(dataset):
        context.terminal.message(
            f"these are not the images and captions of that training ({plain(recipe.dataset, 80)}, {recipe.images} "
            "images): the result will be another"
        )
    request = recipe.request(dataset, arguments.model, arguments.output.expanduser().resolve())
    usual = vars(_defaults())
    given = {name: getattr(arguments, name) for name in usual if getattr(arguments, name) != usual[name]}
    return replace(
        request,
        trigger=arguments.trigger or request.trigger,
        word=arguments.word or request.word,
        prompts=tuple(arguments.sample),
        settings=replace(request.settings, **given),
    )


def _defaults() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    _add_settings(parser)
    return parser.parse_args([])


def _resumed(arguments: argparse.Namespace) -> TrainingRequest:
    """The request of a training that has begun; its folder may have been moved."""
    from mezzotint.jobs.training.folder import SUFFIX
    from mezzotint.jobs.training.runs import resumed_request

    if any(each is not None for each in (arguments.dataset, arguments.model, arguments.recipe)):
        raise UsageError("--resume goes on with what was begun: leave the folder of images, the model and --from out")
    path = arguments.output.expanduser().resolve()
    name = path.name.removesuffix(".safetensors").removesuffix(SUFFIX)
    return resumed_request(path.parent / f"{name}{SUFFIX}")


class _Reporter:
    """Prints the progress and the result."""

    def __init__(self, context: Context, *, is_json: bool) -> None:
        self._terminal, self._interrupt, self._is_json = context.terminal, context.interrupt, is_json
        self._bar: ProgressBar | None = None
        self._loss = 0.0

    def __enter__(self) -> "_Reporter":
        if self._terminal.stderr.isatty() and not self._terminal.quiet:
            from mezzotint.cli.progress import ProgressBar

            self._bar = ProgressBar(self._terminal.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.hide()

    def on_event(self, event: TrainingEvent) -> None:
        """Show an event."""
        self._interrupt.enable_graceful_stop()
        match event:
            case Preparing():
                self._show(_PHASES[event.phase], event.done, event.total)
            case TrainingStep():
                keep = min(0.95, (event.step - 1) / event.step)
                self._loss = keep * self._loss + (1 - keep) * event.loss
                self._show(f"training, loss {self._loss:.4f}", event.step, event.steps)
            case EpochSaved():
                self._hide()
                held = "" if event.validation is None else f", validation loss {event.validation:.4f}"
                self._terminal.message(f"epoch {event.epoch}, step {event.step}: loss {self._loss:.4f}{held}")
            case TrainingNotice():
                self._hide()
                self._terminal.message(plain(event.message, 500))

    def finish(self, result: TrainingResult) -> None:
        """Print the LoRA's path."""
        self._hide()
        if self._is_json:
            self._terminal.json(encode(result))
        else:
            self._terminal.result(plain(result.lora, 300))
        self._terminal.message(f"{result.steps} steps, loss {result.loss:.4f}, {result.seconds:.0f} s")

    def _show(self, what: str, done: int, total: int) -> None:
        if self._bar is not None:
            self._bar.show(Progress(what=what, done=done, total=total, unit="steps"))

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.hide()


def _show(prepared: "Prepared", arguments: argparse.Namespace, context: Context) -> None:
    """Print what would be trained, and what is wrong with the images."""
    report, values = prepared.report, prepared.values
    if arguments.json:
        problems = [{"severity": each.severity, "message": each.message} for each in report.problems]
        context.terminal.json({"values": values, "images": report.images, "problems": problems})
        return
    rows = [(name, str(value)) for name, value in encode(values).items()]  # type: ignore[attr-defined]
    buckets = ", ".join(f"{each.images} at {each.width}x{each.height}" for each in report.buckets)
    rows += [("images", f"{report.images}, {report.captioned} of them with captions"), ("sizes", buckets)]
    context.terminal.result(columns(rows))
    for problem in report.problems:
        context.terminal.result(f"{problem.severity}: {problem.message}")
