"""Reports a running batch on the terminal, as text or JSON."""

from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.progress import Progress
from mezzotint.batch.run.remarks import Remarks
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.batch_protocol import BatchBegun, BatchEnded
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.batch.lines import Lines
from mezzotint.cli.context import Context
from mezzotint.protocol import Event, Notice

if TYPE_CHECKING:
    from mezzotint.cli.batch.progress import BatchBar

Form = Literal["paths", "json", "jsonl"]


class Show:
    """Prints image paths or JSON on stdout; messages, and a progress bar on a terminal, on stderr."""

    def __init__(self, context: Context, form: Form, folder: str) -> None:
        self._terminal, self._form, self._folder = context.terminal, form, folder
        self._bar: BatchBar | None = None
        self._remarks = Remarks()
        self._lines = Lines(context.terminal, context.interrupt.ask) if form == "jsonl" else None

    def __enter__(self) -> Self:
        lines_between = self._form == "jsonl" and self._terminal.stdout.isatty()
        if self._terminal.stderr.isatty() and not self._terminal.quiet and not lines_between:
            from mezzotint.cli.batch.progress import BatchBar

            self._bar = BatchBar(self._terminal.stderr)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._hide()

    def following(self, begun: BatchBegun) -> Self:
        """Report that the run has begun; returns self as the context manager of the run."""
        if self._lines is not None:
            self._lines.begun(begun)
        return self

    def settled(self, record: Record, progress: Progress) -> None:
        """Report a task that has ended and is recorded on disk."""
        self._remark()
        if self._lines is not None:
            self._lines.settled(record)
        elif record.status == "done" and self._form == "paths":
            self._hide()
            self._terminal.result(f"{self._folder}/{record.output}")
        if record.status != "done":
            self._talk(_told(record))
        if self._bar is not None:
            self._bar.show(progress)

    def progress(self, progress: Progress) -> None:
        """Report the progress of the run."""
        self._remark()
        if self._lines is not None:
            self._lines.progress(progress)
        if self._bar is not None:
            self._bar.show(progress)

    def notice(self, code: str, message: str) -> None:
        """Report a notice to the user."""
        if self._lines is not None:
            self._lines.notice(code, message)
        self._talk(f"notice: {plain(message, 1000)}")

    def event(self, task: BatchTask, event: Event) -> None:
        """Forward steps to the JSON lines; collect notices, which everyone sees once."""
        if isinstance(event, Notice):
            self._remarks.hear(event)
        elif self._lines is not None:
            self._lines.event(task, event)

    def ended(self, ended: BatchEnded) -> None:
        """Report that the run is over."""
        if self._lines is not None:
            self._lines.ended(ended)
        elif self._form == "json":
            self._terminal.json(ended)

    def _remark(self) -> None:
        for notice in self._remarks.new():
            self.notice(notice.code, notice.message)

    def _talk(self, words: str) -> None:
        self._hide()
        self._terminal.talk(words)

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.hide()


def _told(record: Record) -> str:
    what = {"failed": "failed", "set_aside": "crashed twice", "skipped": "skipped"}[record.status]
    return f"{what}: {plain(record.input or record.output, 300)}: {plain(record.error or '', 500)}"


def summary(progress: Progress) -> str:
    """Summarize the progress: `12 made, 3 failed, 2 skipped, 80 settled before`."""
    parts = [
        (progress.done, "made"),
        (progress.failed, "failed"),
        (progress.set_aside, "crashed twice"),
        (progress.skipped, "skipped"),
        (progress.already, "settled before"),
        (progress.left_failed, "failed before (--retry-failed tries them again)"),
    ]
    return ", ".join(f"{count} {words}" for count, words in parts if count) or "there was nothing to make"
