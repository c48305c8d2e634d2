"""Texts, icons and colors of the queue's states, and advice on errors."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QLocale

from mezzotint.jobs.store import EntryRow, Task, TaskState
from mezzotint_app import errors
from mezzotint_app.amounts import about_text, duration_text, left_text
from mezzotint_app.plurals import Plurals
from mezzotint_app.processes.service import Failure

translate = QCoreApplication.translate

ICONS: dict[TaskState, str] = {
    "waiting": "waiting",
    "running": "play",
    "done": "done",
    "failed": "error",
    "cancelled": "cancel",
    "set_aside": "warning",
    "interrupted": "pause",
}
COLOURS: dict[TaskState, str] = {
    "waiting": "muted",
    "running": "accent",
    "done": "good",
    "failed": "danger",
    "cancelled": "muted",
    "set_aside": "warning",
    "interrupted": "warning",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry as drawn in a list: only text and numbers."""

    id: int
    title: str
    state: TaskState
    word: str  # name of the state
    about: str  # model, images, time
    note: str  # current activity or error; may be empty
    trouble: bool  # whether the note is an error
    fraction: float | None  # 0..1, over all of its images; None: no bar
    busy: bool  # running with unknown progress
    first_image: str | None


def state_word(state: TaskState) -> str:
    """Return the translated name of the state."""
    return {
        "waiting": translate("QueueWords", "Waiting"),
        "running": translate("QueueWords", "Running"),
        "done": translate("QueueWords", "Done"),
        "failed": translate("QueueWords", "Failed"),
        "cancelled": translate("QueueWords", "Cancelled"),
        "set_aside": translate("QueueWords", "Skipped after crashes"),
        "interrupted": translate("QueueWords", "Interrupted"),
    }[state]


def explained(state: TaskState) -> str:
    """Return what a state means and what the user can do, or "" if its name says enough."""
    return {
        "set_aside": translate(
            "QueueWords",
            "Try a smaller size or another memory setting with Load settings, or Retry without changes.",
        ),
        "interrupted": translate(
            "QueueWords",
            "Mezzotint stopped while this was being generated. Finished images are kept. Retry generates the rest.",
        ),
        "failed": translate(
            "QueueWords", "Retry generates the missing images; Load settings opens the settings on the Create page."
        ),
        "cancelled": translate("QueueWords", "It was cancelled. Retry generates the missing images."),
    }.get(state, "")


def model_name(row: EntryRow) -> str:
    """Return the file name of the entry's model, or "Default model" if it names none."""
    return row.model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or translate("QueueWords", "Default model")


class QueueCounts(Plurals):
    """Translated plurals of jobs and images."""


def images_count(number: int) -> str:
    """Return the number of images as text."""
    return QueueCounts.tr("%Ln images", "", number)


def entries_count(number: int) -> str:
    """Return the number of queue entries as text."""
    return QueueCounts.tr("%Ln jobs", "", number)


def done_of(done: int, asked: int) -> str:
    """Return "x of n images"."""
    return translate("QueueWords", "{done} of {images}").format(
        done=QLocale().toString(done), images=images_count(asked)
    )


def images_text(row: EntryRow) -> str:
    """Return how many of an entry's images exist, as text."""
    if row.state == "done" or row.images_asked == 0:
        return images_count(row.images)
    return done_of(row.images, row.images_asked)


def entry_view(
    row: EntryRow, *, doing: str = "", fraction: float | None = None, left: float | None = None
) -> EntryView:
    """Return the display form of an entry; `doing`, `fraction` and `left` are for a running one."""
    running = row.state == "running"
    whole = None
    if row.images_asked and row.state in ("running", "waiting", "interrupted", "failed", "set_aside"):
        whole = row.images / row.images_asked if row.images else None
    if running and fraction is not None:
        whole = fraction
    trouble = bool(row.error) and row.state != "waiting"
    return EntryView(
        id=row.id,
        title=row.title.strip() or translate("QueueWords", "No prompt"),
        state=row.state,
        word=state_word(row.state),
        about=_about(row, left),
        note=(doing if running and doing else "") or _note(row),
        trouble=trouble and not (running and doing),
        fraction=whole,
        busy=running and whole is None,
        first_image=row.first_image,
    )


def _about(row: EntryRow, left: float | None) -> str:
    parts = [images_text(row), model_name(row)]
    if left is not None and row.state == "running":
        parts.append(left_text(left))
    elif left is not None and row.state == "waiting":
        parts.append(translate("QueueWords", "takes {time}").format(time=about_text(left)))
    return " · ".join(parts)


def _note(row: EntryRow) -> str:
    if row.error:
        return error_text(row)
    if row.counts.failed and row.state in ("waiting", "running"):
        return QueueCounts.tr("Failed so far: %n of {tasks}", "", row.counts.failed).format(tasks=row.tasks)
    return ""


def error_text(row: EntryRow) -> str:
    """Return the error on one line; for an entry that is waiting again, as its last attempt."""
    error = " ".join((row.error or "").split())
    if error and row.state == "waiting" and row.counts.failed:
        return QueueCounts.tr("Failed so far: %n of {tasks}: {error}", "", row.counts.failed).format(
            tasks=row.tasks, error=error
        )
    if error and row.state == "waiting":
        return translate("QueueWords", "Last attempt: {error}").format(error=error)
    return error


def spoken(view: EntryView) -> str:
    """Return the entry as one sentence for screen readers."""
    return ". ".join(
        part for part in (f"{view.word}: {view.title}", view.about.replace(" · ", ", "), view.note) if part
    )


def task_text(task: Task) -> str:
    """Return a task of an entry as one line."""
    about = translate("QueueWords", "Seed {seed}").format(
        seed=task.request.seed if task.request.seed is not None else "?"
    )
    images = done_of(len(task.images), task.request.count)
    parts = [f"{task.index + 1}. {state_word(task.state)}", about, images]
    if task.seconds:
        parts.append(duration_text(task.seconds))
    return " · ".join(parts)


def task_errors(task: Task) -> tuple[str, ...]:
    """Return a task's error message and the advice on it; either may be missing."""
    if not task.error or task.state in ("waiting", "running", "done"):
        return ()
    return tuple(text for text in (task.error.strip(), what_to_do(task.error_kind, task.error)) if text)


def what_to_do(kind: str | None, error: str = "") -> str:
    """Return advice on an error of this kind, beyond its message, or ""."""
    if kind == "died":
        return translate("QueueWords", "The engine crashed; its log may say why. Retry starts over.")
    if kind in (None, "put_back", "cancelled"):
        return ""
    return errors.explained(Failure(kind=kind or "", message=error)).advice
