"""Texts of the Train page: what a training will be, and how far each one is."""

import os

from PySide6.QtCore import QCoreApplication

from mezzotint.training_protocol import EpochSaved, Preparing, TrainingCheck, TrainingRunInfo
from mezzotint_app.amounts import about_text, bytes_text, left_text, number_text
from mezzotint_app.errors import explained
from mezzotint_app.plurals import Plurals
from mezzotint_app.processes.service import GONE, Failure
from mezzotint_app.viewmodel.foreign_text import in_one_line
from mezzotint_app.viewmodel.train.runs import TrainingRunsModel

_MOST_PROBLEMS = 6  # shown at once

translate = QCoreApplication.translate


class Training(Plurals):
    """Translation context for counts."""


def before_start(found: TrainingCheck, seconds_per_step: float | None) -> str:
    """One line about a training: images, steps, time, disk."""
    parts = [Training.tr("%n images", "", found.count)]
    if found.values is not None:
        parts.append(Training.tr("%n steps", "", found.values.steps))
        if seconds_per_step:
            parts.append(about_text(seconds_per_step * found.values.steps))
        else:
            parts.append(translate("Training", "the time is known after the first steps"))
    if found.disk_bytes:
        parts.append(translate("Training", "{size} on disk").format(size=bytes_text(found.disk_bytes)))
    return ", ".join(parts)


def captions_line(found: TrainingCheck) -> str:
    """How many images have captions."""
    images = found.count + found.regularization
    if found.captioned == images:
        return Training.tr("All of %n images have captions.", "", images)
    return translate("Training", "{captioned} of {images} images have captions.").format(
        captioned=found.captioned, images=images
    )


def state_words(runs: TrainingRunsModel, info: TrainingRunInfo) -> str:
    """How far a run is, in one line."""
    if runs.is_running(info.folder):
        return _running(runs)
    step, steps = info.step, info.steps
    if info.lora is not None:
        return Training.tr("Finished after %n steps.", "", step)
    failure = runs.failure(info.folder)
    if failure is not None:
        return failure_words(failure)
    if runs.is_stopped(info.folder):
        return translate("Training", "Stopped after step {step} of {steps}.").format(step=step, steps=steps)
    return translate("Training", "Paused after step {step} of {steps}.").format(step=step, steps=steps or "?")


def failure_words(failure: Failure) -> str:
    """Why a training ended, and what to do."""
    words = explained(failure)
    if failure.kind == "dataset_changed":  # the engine's own words are about the command line
        return f"{words.title} {words.advice}"
    resume = translate("Training", "What was trained so far is kept: the run can be resumed.")
    advice = resume if failure.kind == GONE else words.advice
    return " ".join(in_one_line(part, 600) for part in (words.title, words.detail, advice) if part)


def _running(runs: TrainingRunsModel) -> str:
    state = runs.live.state()
    if state.stage == "waiting":
        return runs.live.waiting_words()
    if state.stage == "pausing":
        return translate("Training", "Pausing after this step…")
    if state.preparing is not None:
        return _preparing(state.preparing)
    if not state.step:
        return translate("Training", "Preparing…")
    words = translate("Training", "Step {step} of {steps}").format(step=state.step, steps=state.steps)
    left = left_text(runs.live.seconds_left())
    return f"{words}, {left}" if left else words


def _preparing(event: Preparing) -> str:
    words = {
        "dataset": translate("Training", "Reading the images: {done} of {total}"),
        "regularization": translate("Training", "Generating regularization images: {done} of {total}"),
        "captions": translate("Training", "Encoding captions: {done} of {total}"),
        "images": translate("Training", "Encoding images: {done} of {total}"),
    }
    if event.phase not in words:
        return translate("Training", "Loading the model")
    return words[event.phase].format(done=event.done, total=event.total)


def fraction(runs: TrainingRunsModel, info: TrainingRunInfo) -> float | None:
    """The part of a run that is done; None while that is not known."""
    if not runs.is_running(info.folder):
        return info.step / info.steps if info.steps else 0.0
    state = runs.live.state()
    if state.stage == "waiting":
        return None
    if state.preparing is not None:
        return state.preparing.done / state.preparing.total if state.preparing.total else None
    return state.step / state.steps if state.steps else None


def title_of(info: TrainingRunInfo) -> str:
    """A run's name, and the model that learns."""
    return translate("Training", "{name} ({model})").format(name=info.request.name, model=info.request.model.id)


def epoch_title(epoch: EpochSaved) -> str:
    """An epoch, and how well it does."""
    words = translate("Training", "Epoch {number}, step {step}").format(number=epoch.epoch, step=epoch.step)
    if epoch.validation is None:
        return words
    return translate("Training", "{epoch}, validation loss {loss}").format(
        epoch=words, loss=number_text(round(epoch.validation, 4))
    )


def problems_text(found: TrainingCheck, folder: str) -> str:
    """The problems that are not about a single image, one a line, then how many images have some."""
    images = {one.path for one in found.images}
    lines = [one.message for one in found.problems if one.path not in images][:_MOST_PROBLEMS]
    bad = len({one.path for one in found.problems if one.path in images})
    if bad:
        lines.append(Training.tr("%n images have a warning sign: point at them to read why.", "", bad))
    if found.problem and found.problem not in lines:
        lines.insert(0, found.problem)
    return "\n".join(in_one_line(line.replace(f"{folder}{os.sep}", ""), 400) for line in lines)
