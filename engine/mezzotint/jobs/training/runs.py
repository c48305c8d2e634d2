"""Trainings on disk: what each is, how far it came, and its epochs with their samples."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from mezzotint.catalog.place import TRAINING_SUFFIX
from mezzotint.codec import decode
from mezzotint.errors import MezzotintError, UsageError
from mezzotint.jobs.training.folder import RunFolder
from mezzotint.training_protocol import EpochSaved, TrainingLoss, TrainingRequest, TrainingRunInfo

CHANGEABLE = ("steps", "rate", "schedule", "device", "attention")  # of the settings of a run that has begun
MOST_RUNS = 200
MOST_LOSSES = 1000  # points of a curve; more are averaged
_MOST_ENTRIES = 10_000  # of a folder


def read_runs(folders: Iterable[str]) -> tuple[TrainingRunInfo, ...]:
    """The runs in these folders, the newest first; what cannot be read is left out."""
    paths = dict.fromkeys(path for folder in folders for path in _run_folders(Path(folder)))
    found = [info for path in paths if (info := _read_or_none(path)) is not None]
    return tuple(sorted(found, key=lambda one: one.started, reverse=True)[:MOST_RUNS])


def resumed_request(folder: Path, given: Mapping[str, Any] | None = None) -> TrainingRequest:
    """The request of a run that has begun, with other settings; its folder may have been moved or renamed.

    Raises as RunFolder.read; UsageError for settings that cannot change once a run has begun.
    """
    request, _ = RunFolder(folder).read()
    given = {name: value for name, value in (given or {}).items() if value != getattr(request.settings, name)}
    fixed = [name for name in given if name not in CHANGEABLE]
    if fixed:
        named = ", ".join(f"{_option(name)} (it is {getattr(request.settings, name)})" for name in fixed)
        raise UsageError(
            f"a training that has begun keeps its {named}; --resume can change {', '.join(map(_option, CHANGEABLE))}. "
            "Leave it out, or train anew with --from"
        )
    done = read_run(folder).step if given.get("steps") else 0
    if given.get("steps") and given["steps"] < done:
        raise UsageError(f"--steps is {given['steps']}, and {done} steps are done already: give more, or leave it out")
    return _placed(replace(request, settings=replace(request.settings, **given)), folder)


def read_run(path: Path) -> TrainingRunInfo:
    """A run. Raises UsageError if the folder holds none, ModelRefused if its record is damaged."""
    folder = RunFolder(path)
    request, record = folder.read()
    lines = list(folder.logged())
    steps = [line for line in lines if "loss" in line and "epoch" not in line]
    epochs = tuple(_epochs(folder, lines))
    last = steps[-1]["step"] if steps else 0
    lora = path.parent / f"{_name(path)}.safetensors"
    return TrainingRunInfo(
        folder=str(path),
        request=_placed(request, path),
        started=str(record["started"]),
        step=last,
        steps=_whole(record.get("steps")) or request.settings.steps or 0,
        lora=str(lora) if lora.is_file() else None,
        epochs=epochs,
        base_samples=_existing(folder.sample(0, number) for number in range(len(request.prompts))),
        losses=thinned(_loss(line) for line in steps),
        seconds=_middle([float(line.get("seconds", 0)) for line in steps[-50:]]),
        paused_lora=next(iter(_existing([folder.paused])), None),
    )


def thinned(losses: Iterable[TrainingLoss]) -> tuple[TrainingLoss, ...]:
    """At most MOST_LOSSES points, each the mean of its neighbours."""
    all_of = list(losses)
    each = -(-len(all_of) // MOST_LOSSES) or 1
    groups = [all_of[first : first + each] for first in range(0, len(all_of), each)]
    return tuple(TrainingLoss(step=one[-1].step, loss=sum(each.loss for each in one) / len(one)) for one in groups)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _run_folders(folder: Path) -> Iterator[Path]:
    if folder.suffix == TRAINING_SUFFIX:
        yield folder
        return
    try:
        entries = sorted(islice(folder.iterdir(), _MOST_ENTRIES))
    except OSError:
        return
    yield from (path for path in entries if path.suffix == TRAINING_SUFFIX)


def _read_or_none(path: Path) -> TrainingRunInfo | None:
    try:
        return read_run(path)
    except (MezzotintError, KeyError, TypeError, ValueError):
        return None


def _name(path: Path) -> str:
    return path.name.removesuffix(TRAINING_SUFFIX)


def _placed(request: TrainingRequest, path: Path) -> TrainingRequest:
    return replace(request, output=str(path.parent), name=_name(path))


def _epochs(folder: RunFolder, lines: Iterable[Mapping[str, Any]]) -> Iterator[EpochSaved]:
    """The epochs whose files are there, in this folder, wherever it was when they were written."""
    for line in lines:
        if "epoch" not in line:
            continue
        logged = decode(EpochSaved, line)
        path = folder.path / "epochs" / Path(logged.path).name
        samples = _existing(folder.path / "samples" / Path(one).name for one in logged.samples)
        if path.is_file():
            yield EpochSaved(
                epoch=logged.epoch, step=logged.step, path=str(path), validation=logged.validation, samples=samples
            )


def _existing(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(str(path) for path in paths if path.is_file())


def _loss(line: Mapping[str, Any]) -> TrainingLoss:
    return TrainingLoss(step=int(line["step"]), loss=float(line["loss"]))


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0
