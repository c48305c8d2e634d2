"""Texts describing the state of a batch."""

import re
import sys
from pathlib import Path, PurePath

from PySide6.QtCore import QCoreApplication, QLocale

from mezzotint.batch_protocol import BatchStatus, BatchTaskRow, DryRow, DryTotals
from mezzotint_app.amounts import about_text, bytes_text, duration_text, left_text
from mezzotint_app.plurals import Plurals
from mezzotint_app.viewmodel.batch.state import Batch
from mezzotint_app.viewmodel.foreign_text import in_one_line

translate = QCoreApplication.translate

_LONGEST = 160  # characters of a name or prompt


def number(count: int) -> str:
    """Format a number for the locale: 1,204."""
    return QLocale().toString(count)


def short_path(path: str, platform: str = sys.platform) -> str:
    """Abbreviate the home folder to `~`, except on Windows."""
    home = str(Path.home())
    if platform != "win32" and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path


def state_words(batch: Batch, waiting: str) -> str:
    """Return one or two lines: progress while running, otherwise what the folder contains."""
    if batch.stage == "waiting":
        return waiting
    if batch.stage == "resting":
        return _resting(batch)
    return _running(batch)


def fraction(batch: Batch) -> float | None:
    """Return the fraction done, or None if unknown."""
    progress, status = batch.progress, batch.status
    if batch.stage in ("running", "stopping"):
        if progress is None or not progress.total:
            return None
        ended = progress.done + progress.failed + progress.set_aside + progress.skipped
        return min(1.0, (ended + progress.already + progress.left_failed) / progress.total)
    if status is None or not status.total:
        return None
    return min(1.0, (status.done + status.skipped) / status.total)


def is_whole(batch: Batch) -> bool:
    """Whether nothing is left to generate, as far as known."""
    status = batch.status
    return status is not None and status.is_ended and not (status.failed or status.set_aside)


def is_empty(batch: Batch) -> bool:
    """Whether the batch has finished without an image: everything was skipped, or nothing found."""
    return batch.status is not None and is_whole(batch) and not batch.status.done


def step_words(batch: Batch) -> str:
    """Return the current image and its step as text."""
    step = batch.step
    if step is None:
        return ""
    name = in_one_line(step.input or step.prompt or step.output, _LONGEST)
    return translate("Batch", "{name}: step {step} of {steps}").format(name=name, step=step.step, steps=step.steps)


class BatchFailures(Plurals):
    """Translated plurals of failures."""


def failures_words(batch: Batch) -> str:
    """Return the failures, one per line; "" while running or if nothing failed."""
    if batch.stage != "resting" or not batch.failed:
        return ""
    lines = [failure_words(row) for row in batch.failures]
    more = batch.failed - len(lines)
    if lines and more > 0:
        lines.append(BatchFailures.tr("%n more failed", "", more))
    return "\n".join(lines)


def failure_words(row: BatchTaskRow) -> str:
    """Return a failure as one line: the file name, and the error without the file's path."""
    name = PurePath(row.input or row.output).name
    why = row.error or row.kind or translate("Batch", "unknown reason")
    if name:
        why = re.sub(r"(?:[A-Za-z]:)?[/\\].*?" + re.escape(name), lambda _found: name, why, count=1)
    words = why if why.startswith(name) else translate("Batch", "{name}: {why}").format(name=name, why=why)
    return in_one_line(words, _LONGEST)


def _running(batch: Batch) -> str:
    progress = batch.progress
    if progress is None:
        return translate("Batch", "Starting: loading the model.")
    made = progress.done + progress.already
    parts = [
        translate("Batch", "{done} of {total} generated").format(
            done=number(made), total=number(max(made, progress.total - progress.skipped))
        )
        if progress.total is not None
        else translate("Batch", "{done} generated").format(done=number(made))
    ]
    if batch.failed:
        parts.append(translate("Batch", "{count} failed").format(count=number(batch.failed)))
    if progress.skipped:
        parts.append(translate("Batch", "{count} skipped").format(count=number(progress.skipped)))
    if batch.step is None and not progress.done and not batch.failed:
        parts.append(translate("Batch", "loading the model"))
    if progress.per_second:
        parts.append(rate_text(progress.per_second))
    parts.append(left_text(progress.seconds_left))
    if progress.vram_bytes is not None:
        parts.append(translate("Batch", "{size} VRAM").format(size=bytes_text(progress.vram_bytes)))
    line = " · ".join(part for part in parts if part)
    if batch.stage == "stopping":
        line += ". " + translate("Batch", "Stops after this image.")
    return line


def rate_text(per_second: float) -> str:
    """Return images per second, minute or hour, in the smallest unit with a value of at least one."""
    for scale, words in (
        (1, translate("Batch", "{rate} images/s")),
        (60, translate("Batch", "{rate} images/min")),
        (3600, translate("Batch", "{rate} images/h")),
    ):
        if per_second * scale >= 1 or scale == 3600:
            return words.format(rate=QLocale().toString(per_second * scale, "f", 1))
    return ""


def _resting(batch: Batch) -> str:
    status = batch.status
    if status is None:
        return batch.unknown or translate("Batch", "Nothing generated yet.")
    line = status_words(status)
    if status.running:
        owner = status.running[0]
        where = translate("Batch", "Another program is running it (process {pid} on {host}).")
        return f"{line}. {where.format(pid=owner.pid or '?', host=in_one_line(owner.host, 60) or '?')}"
    if status.failed or status.set_aside or not status.is_ended:
        return f"{line}." if status.is_ended else f"{line}. " + translate("Batch", "It can be resumed.")
    if is_empty(batch):
        return f"{line}. " + translate("Batch", "No images were generated: Preview shows why.")
    return f"{line}. " + translate("Batch", "All done.")


def status_words(status: BatchStatus) -> str:
    """Return what the folder contains."""
    done, total = number(status.done), status.total
    if total is not None:
        total = max(status.done, total - status.skipped)  # the total excludes skipped files
    line = (
        translate("Batch", "{done} of {total} generated").format(done=done, total=number(total))
        if total is not None
        else translate("Batch", "{done} generated").format(done=done)
    )
    failed = status.failed + status.set_aside
    if failed:
        line += ", " + translate("Batch", "{count} failed").format(count=number(failed))
    if status.skipped:
        line += ", " + translate("Batch", "{count} skipped").format(count=number(status.skipped))
    return line


# ---- dry run


def does_words(does: str) -> str:
    """Return the action on a row as text."""
    return {
        "make": translate("Batch", "generate"),
        "rename": translate("Batch", "generate, rename"),
        "overwrite": translate("Batch", "overwrite"),
        "done": translate("Batch", "already done"),
        "skip": translate("Batch", "skip"),
        "refuse": translate("Batch", "cannot generate"),
    }.get(does, does)


def row_name(row: DryRow | BatchTaskRow) -> str:
    """Return the input image and the prompt."""
    words = row.prompt if isinstance(row, DryRow) else ""
    both = " · ".join(part for part in (row.input, words) if part)
    return in_one_line(both or row.output or "", _LONGEST)


class BatchCounts(Plurals):
    """Translated plurals of a dry run."""


def totals_words(totals: DryTotals) -> str:
    """Return the number of images to generate, and of those not to generate with reasons."""
    parts = [translate("Batch", "{count} to generate").format(count=number(totals.to_make))]
    for does, words in (
        ("done", translate("Batch", "{count} already done")),
        ("rename", translate("Batch", "{count} renamed because a file exists")),
        ("overwrite", translate("Batch", "{count} overwriting a file")),
        ("refuse", translate("Batch", "{count} cannot be generated")),
    ):
        if totals.does.get(does):
            parts.append(words.format(count=number(totals.does[does])))
    kept = totals.does.get("skip", 0) - sum(totals.skipped.values())
    if kept > 0:
        parts.append(BatchCounts.tr("%Ln already exist", "", kept))
    for kind, count in sorted(totals.skipped.items()):
        words = translate("Batch", "{count} skipped ({why})")
        parts.append(words.format(count=number(count), why=passed_over_words(kind)))
    if not totals.tasks and not totals.skipped:
        return translate("Batch", "Nothing to generate: no image or prompt was found.")
    return ", ".join(parts) + "."


def passed_over_words(kind: str) -> str:
    """Return why files are skipped."""
    known = {
        "image_refused": translate("Batch", "unreadable images"),
        "link": translate("Batch", "links that point outside the folder"),
        "name": translate("Batch", "unusable file names"),
        "no_mask": translate("Batch", "no mask with that name"),
        "not_a_file": translate("Batch", "not regular files"),
        "storage": translate("Batch", "cannot be opened"),
        "twice": translate("Batch", "listed twice"),
        "usage": translate("Batch", "invalid settings"),
    }
    return known.get(kind) or in_one_line(kind.replace("_", " "), 60)


def room_words(totals: DryTotals) -> str:
    """Return estimated time and disk space; "" if there is nothing to generate."""
    if not totals.to_make:
        return ""
    if totals.seconds is None:
        time = translate("Batch", "The duration is not known yet.")
    elif totals.how_known == "measured":
        time = translate("Batch", "It takes {time}.").format(time=about_text(totals.seconds))
    else:
        words = translate("Batch", "It takes {time} (estimated).")
        time = words.format(time=about_text(totals.seconds))
    room = translate("Batch", "The images need about {size}").format(size=bytes_text(totals.bytes))
    if totals.free_bytes is None:
        return f"{time} {room}."
    return f"{time} {room}; " + translate("Batch", "{size} free.").format(size=bytes_text(totals.free_bytes))


def seconds_words(seconds: float | None) -> str:
    """Return the estimated time of a row."""
    return "" if seconds is None else duration_text(seconds)
