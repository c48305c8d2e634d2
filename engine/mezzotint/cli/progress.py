"""Progress bar of one job on a terminal, with the time remaining."""

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mezzotint.checkpoints.plain_text import plain, size_of
from mezzotint.protocol import Decoding, Encoding, Event, Loading, Step
from mezzotint.protocol import Progress as Counted


class ProgressBar:
    """Progress bar driven by the events of a job."""

    def __init__(self, stream: TextIO) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=Console(file=stream),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("starting", total=None, detail="")
        self._phase = "starting"
        self._progress.start()

    def show(self, event: Event) -> None:
        """Update the bar from an event."""
        match event:
            case Loading():
                done = size_of(event.bytes_done, event.bytes_total)
                self._set("loading", event.bytes_done, event.bytes_total, f"{plain(event.model, 40)}, {done}")
            case Encoding():
                self._set("encoding the prompt", None, None, "")
            case Step():
                self._set(f"denoising{_of(event)}", event.step, event.steps, f"step {event.step} of {event.steps}")
            case Decoding():
                self._set("decoding", None, None, "")
            case Counted():
                self._set("working", event.done, event.total, _counted(event))
        self._progress.start()  # it may have been hidden to print a line

    def hide(self) -> None:
        """Remove the bar from the screen."""
        self._progress.stop()

    def _set(self, phase: str, done: int | None, total: int | None, detail: str) -> None:
        if phase != self._phase:  # a new task resets the estimate of the time remaining
            self._progress.remove_task(self._task)
            self._task = self._progress.add_task(phase, total=total, detail=detail)
            self._phase = phase
        self._progress.update(self._task, completed=done, total=total, detail=detail)


def _counted(event: Counted) -> str:
    """Format the name of the work and how much of it is done."""
    if event.total is None:
        done = str(event.done)
    else:
        done = size_of(event.done, event.total) if event.unit == "bytes" else f"{event.done} of {event.total}"
    return f"{plain(event.what, 40)}, {done}"


def _of(event: Step) -> str:
    image = f" {event.image + 1} of {event.images}" if event.images > 1 else ""
    stage = f", stage {event.stage + 1} of {event.stages}" if event.stages > 1 else ""
    return image + stage
