"""`mezzotint train`: train a LoRA or an embedding on a folder of images."""

import argparse
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.train_settings import add_settings
from mezzotint.codec import encode
from mezzotint.errors import UsageError
from mezzotint.protocol import ModelRef, Progress
from mezzotint.training_protocol import (
    EpochSaved,
    Preparing,
    TrainingEvent,
    TrainingNotice,
    TrainingPlan,
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
  mezzotint train --resume -o loras/aunt-mary --steps 3000
  mezzotint train photos -m sdxl-base -o loras/aunt-mary --devices 0,1 --batch 4
  mezzotint train prompts.txt -m starter-dit -o fast --distill 1000 --schedule cosine

The folder holds images, each with its caption in a text file of the same name. Beside NAME.safetensors, the folder
NAME.training keeps everything else: the LoRA of each epoch, samples, the loss, and the state. Ctrl+C pauses.
With --resume, --steps prolongs a training, also a finished one; --rate and --schedule change the learning rate.
"""
_PHASES = {
    "dataset": "reading the images",
    "regularization": "making regularization images",
    "captions": "encoding captions",
    "images": "encoding images",
    "loading": "loading the model",
    "pairs": "making images to learn from",
    "blocks": "leaving blocks out",
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
    add_settings(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_json(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Check the images, or train: on several devices in a process for each, which run this very command."""
    if arguments.accept_changes and not arguments.resume:
        raise UsageError("--accept-changes is about images that changed since a training began: add --resume")
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
        from mezzotint.jobs.training.planning import plan_of

        prepared = prepare(request, catalog, lambda _: None, stops)
        _show(prepared, plan_of(prepared), arguments, context)
        return 0
    processes, options = Processes.of_environment(), {"resume": arguments.resume}
    options["accept_changes"] = arguments.accept_changes
    if not processes.is_first:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first decides when all stop
        TrainingRun(request, catalog, lambda _: None, stops, processes).run(**options)
        return 0
    with TrainingReporter(context, is_json=arguments.json) as reporter:
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
    return replace(
        request,
        trigger=arguments.trigger or request.trigger,
        word=arguments.word or request.word,
        prompts=tuple(arguments.sample),
        settings=replace(request.settings, **_given(arguments)),
    )


def _defaults() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    return parser.parse_args([])


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that the command line names, whether or not they are the usual ones."""
    parser = argparse.ArgumentParser(add_help=False)
    add_settings(parser)
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    return vars(parser.parse_known_args(arguments.words)[0])


def _resumed(arguments: argparse.Namespace) -> TrainingRequest:
    """The request of a training that has begun, changed by what is given; its folder may have been moved."""
    from mezzotint.catalog.place import TRAINING_SUFFIX
    from mezzotint.jobs.training.runs import resumed_request

    if any(each is not None for each in (arguments.dataset, arguments.model, arguments.recipe)):
        raise UsageError("--resume goes on with what was begun: leave the folder of images, the model and --from out")
    words = [f"--{name}" for name in ("trigger", "word", "sample") if getattr(arguments, name)]
    if words:
        raise UsageError(f"{' and '.join(words)} cannot be changed by --resume: train anew with --from")
    path = arguments.output.expanduser().resolve()
    name = path.name.removesuffix(".safetensors").removesuffix(TRAINING_SUFFIX)
    return resumed_request(path.parent / f"{name}{TRAINING_SUFFIX}", _given(arguments))


class TrainingReporter:
    """Prints the progress and the result of a training."""

    def __init__(self, context: Context, *, is_json: bool = False) -> None:
        self._terminal, self._interrupt, self._is_json = context.terminal, context.interrupt, is_json
        self._bar: ProgressBar | None = None
        self._loss = 0.0

    def __enter__(self) -> "TrainingReporter":
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
                self.hide()
                held = "" if event.validation is None else f", validation loss {event.validation:.4f}"
                self._terminal.message(f"epoch {event.epoch}, step {event.step}: loss {self._loss:.4f}{held}")
            case TrainingNotice():
                self.hide()
                self._terminal.message(plain(event.message, 500))

    def finish(self, result: TrainingResult) -> None:
        """Print the LoRA's path."""
        self.hide()
        if self._is_json:
            self._terminal.json(encode(result))
        else:
            self._terminal.result(plain(result.lora, 300))
        self._terminal.message(f"{result.steps} steps, loss {result.loss:.4f}, {result.seconds:.0f} s")
        if result.plan is not None and result.peak_vram_bytes is not None:
            predicted, measured = size(result.plan.peak_bytes), size(result.peak_vram_bytes)
            self._terminal.message(f"peak of device memory: {measured}; predicted: {predicted}, with the driver's")

    def _show(self, what: str, done: int, total: int) -> None:
        if self._bar is not None:
            self._bar.show(Progress(what=what, done=done, total=total, unit="steps"))

    def hide(self) -> None:
        """Take the progress bar away."""
        if self._bar is not None:
            self._bar.hide()


def _show(prepared: "Prepared", plan: TrainingPlan, arguments: argparse.Namespace, context: Context) -> None:
    """Print what would be trained, the memory that it needs, and what is wrong with the images."""
    report, values = prepared.report, prepared.values
    if arguments.json:
        problems = [{"severity": each.severity, "message": each.message} for each in report.problems]
        context.terminal.json({"values": values, "images": report.images, "problems": problems, "plan": plan})
        return
    rows = [(name, str(value)) for name, value in encode(values).items()]  # type: ignore[attr-defined]
    buckets = ", ".join(f"{each.images} at {each.width}x{each.height}" for each in report.buckets)
    rows += [("images", f"{report.images}, {report.captioned} of them with captions"), ("sizes", buckets)]
    context.terminal.result(columns(rows))
    context.terminal.result(f"memory: {plan.summary}")
    for reason in plan.reasons:
        context.terminal.result(f"- {plain(reason, 400)}")
    for problem in report.problems:
        context.terminal.result(f"{problem.severity}: {problem.message}")
