"""Reports a job's progress and results on the terminal, as text or JSON."""

from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.context import Context
from mezzotint.codec import encode
from mezzotint.protocol import Event, GenerateResult, MemoryReport, Notice, Saved

if TYPE_CHECKING:
    from mezzotint.cli.progress import ProgressBar

OutputFormat = Literal["paths", "json", "jsonl"]


class Reporter:
    """Prints the events and the result of one job."""

    def __init__(self, context: Context, output_format: OutputFormat) -> None:
        self._terminal = context.terminal
        self._interrupt = context.interrupt
        self._output_format = output_format
        self._printed: set[str] = set()
        self._bar: ProgressBar | None = None
        self.saved = 0

    def __enter__(self) -> Self:
        stdout, stderr = self._terminal.stdout, self._terminal.stderr
        lines_between = self._output_format == "jsonl" and stdout.isatty()
        if stderr.isatty() and not self._terminal.quiet and not lines_between:
            from mezzotint.cli.progress import ProgressBar

            self._bar = ProgressBar(stderr)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._hide()

    def on_event(self, event: Event) -> None:
        """Handle one event of the job."""
        self._interrupt.enable_graceful_stop()  # from here on there is work that can stop gracefully
        if self._output_format == "jsonl":
            self._terminal.json({"event": encode(event)})
        match event:
            case Saved():
                self._save(event)
            case Notice():
                self._hide()
                self._print_notice(event.message)
        if self._bar is not None:
            self._bar.show(event)

    def finish(self, result: GenerateResult) -> None:
        """Print the result, its notices and a summary."""
        self._hide()
        if self._output_format == "json":
            self._terminal.json(result)
        elif self._output_format == "jsonl":
            self._terminal.json({"result": encode(result)})
        for notice in result.notices:
            self._print_notice(notice)
        self._terminal.message(summary(result))
        if result.plan is not None:
            self._terminal.message(memory_summary(result.memory))

    def _save(self, event: Saved) -> None:
        self.saved += 1
        if self._output_format == "paths":
            self._hide()
            self._terminal.result(event.image.path)

    def _print_notice(self, message: str) -> None:
        if message not in self._printed:
            self._printed.add(message)
            self._terminal.message(f"notice: {plain(message, 500)}")

    def _hide(self) -> None:
        """Hide the progress bar until its next event, so that lines can be printed."""
        if self._bar is not None:
            self._bar.hide()


def memory_summary(memory: MemoryReport) -> str:
    """Format the largest measured peak on the device and the plan's prediction for that phase."""
    largest = max(memory.phases, key=lambda phase: phase.measured_bytes, default=None)
    if largest is None:
        return "device memory: nothing was measured"
    measured, planned = size(largest.measured_bytes), size(largest.predicted_bytes)
    return f"peak device memory: {measured}, in {largest.name}; planned: {planned}"


def summary(result: GenerateResult) -> str:
    """Format size, steps, seeds and seconds: `128x128, 20 steps, seed 7, 3.2 s`."""
    parts = []
    if len(result.images) != 1:
        parts.append(f"{len(result.images)} images")
    if result.images:
        parts.append(f"{result.images[0].width}x{result.images[0].height}")
    if result.stages:
        parts.append(f"{' + '.join(str(len(stage.timesteps)) for stage in result.stages)} steps")
    last = result.seed + len(result.images) - 1
    parts.append(f"seeds {result.seed} to {last}" if last > result.seed else f"seed {result.seed}")
    return ", ".join([*parts, f"{result.timings.total:.1f} s"])
