"""Progress bar of a batch on a terminal."""

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from mezzotint.batch.run.progress import Progress
from mezzotint.checkpoints.plain_text import size
from mezzotint.cli.queue.queue import duration


class BatchBar:
    """Progress bar driven by the progress of a run."""

    def __init__(self, stream: TextIO) -> None:
        self._bars = Bars(
            SpinnerColumn(),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}", markup=False),
            TimeElapsedColumn(),
            console=Console(file=stream),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bars.add_task("batch", total=None, detail="looking")
        self._bars.start()

    def show(self, progress: Progress) -> None:
        """Update the bar."""
        self._bars.update(self._task, completed=progress.looked_at, total=progress.total, detail=detail_of(progress))
        self._bars.start()  # it may have been hidden to print a line

    def hide(self) -> None:
        """Remove the bar from the screen."""
        self._bars.stop()


def detail_of(progress: Progress) -> str:
    """Format the known parts of the progress: `12 of 80, 1.4/s, 50 s left, 2 failed, 3.1 GB of VRAM`."""
    failed = progress.failed + progress.set_aside
    parts = [f"{progress.looked_at} of {progress.total}" if progress.total is not None else f"{progress.looked_at}"]
    if progress.per_second is not None:
        parts.append(_rate(progress.per_second))
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} left")
    if failed:
        parts.append(f"{failed} failed")
    if progress.vram_bytes is not None:
        parts.append(f"{size(progress.vram_bytes)} of VRAM")
    return ", ".join(parts)


def _rate(per_second: float) -> str:
    return f"{per_second:.1f}/s" if per_second >= 1 else f"{60 * per_second:.1f}/min"
