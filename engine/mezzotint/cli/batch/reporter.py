"""Reports a running batch on the terminal, as text or JSON."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from mezzotint.batch.manifest.record import FAILURES, Record
from mezzotint.batch.run.progress import Progress
from mezzotint.batch.run.remarks import Remarks
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.batch_protocol import BatchBegun, BatchEnded
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.batch.json_lines import JsonLinesWriter
from mezzotint.cli.context import Context
from mezzotint.cli.reporter import OutputFormat
from mezzotint.protocol import Event, Notice

if TYPE_CHECKING:
    from mezzotint.cli.batch.progress import BatchBar


class BatchReporter:
    """Prints image paths or JSON on stdout; messages, and a progress bar on a terminal, on stderr."""

    def __init__(self, context: Context, output_format: OutputFormat, folder: str) -> None:
        self._terminal, self._output_format, self._folder = context.terminal, output_format, folder
        self._bar: BatchBar | None = None
        self._remarks = Remarks()
        self._lines = (
            JsonLinesWriter(context.terminal, context.interrupt.request_stop) if output_format == "jsonl" else None
        )

    def __enter__(self) -> Self:
        lines_between = self._output_format == "jsonl" and self._terminal.stdout.isatty()
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
        self._report_notices()
        if self._lines is not None:
            self._lines.settled(record)
        elif record.status == "done" and self._output_format == "paths":
            self._hide()
            self._terminal.result(f"{self._folder}/{record.output}")
        if record.status != "done":
            self._hide()
            say = self._terminal.failure if record.status in FAILURES else self._terminal.message
            say(_format_failure(record))
        if self._bar is not None:
            self._bar.show(progress)

    def progress(self, progress: Progress) -> None:
        """Report the progress of the run."""
        self._report_notices()
        if self._lines is not None:
            self._lines.progress(progress)
        if self._bar is not None:
            self._bar.show(progress)

    def notice(self, code: str, message: str) -> None:
        """Report a notice to the user."""
        if self._lines is not None:
            self._lines.notice(code, message)
        self._message(f"notice: {plain(message, 1000)}")

    def grid(self, path: str) -> None:
        """Report the image with all others in it."""
        if self._lines is not None:
            self._lines.notice("grid", path)
        elif self._output_format == "paths":
            self._hide()
            self._terminal.result(path)

    def event(self, task: BatchTask, event: Event) -> None:
        """Forward steps to the JSON lines; collect notices, which everyone sees once."""
        if isinstance(event, Notice):
            self._remarks.add(event)
        elif self._lines is not None:
            self._lines.event(task, event)

    def ended(self, ended: BatchEnded) -> None:
        """Report that the run is over."""
        if self._lines is not None:
            self._lines.ended(ended)
        elif self._output_format == "json":
            self._terminal.json(ended)

    def _report_notices(self) -> None:
        for notice in self._remarks.new():
            self.notice(notice.code, notice.message)

    def _message(self, words: str) -> None:
        self._hide()
        self._terminal.message(words)

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.hide()


def _format_failure(record: Record) -> str:
    what = {"failed": "failed", "set_aside": "crashed twice", "skipped": "skipped"}[record.status]
    return f"{what}: {plain(record.input or record.output, 300)}: {plain(record.error or '', 500)}"


def summary(progress: Progress) -> str:
    """Summarize the progress: `12 made, 3 failed, 2 skipped, 80 done before`."""
    parts = [
        (progress.done, "made"),
        (progress.failed, "failed"),
        (progress.set_aside, "crashed twice (--retry-failed retries them)"),
        (progress.skipped, "skipped"),
        (progress.already, "done before"),
        (progress.left_failed, "failed before (--retry-failed retries them)"),
    ]
    return ", ".join(f"{count} {words}" for count, words in parts if count) or "nothing to generate"
