"""Preview what a job would do, image by image, without generating or writing anything."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mezzotint import codec
from mezzotint.batch.job.job import JobFile
from mezzotint.batch.tasks.estimate import Sizes, Times, bytes_of, free_bytes
from mezzotint.batch.tasks.inputs import Listdir
from mezzotint.batch.tasks.tasks import BatchTask, Shard, Skipped, output_folder, tasks_of
from mezzotint.batch_protocol import DryDoes, DryRow, DryTotals, HowKnown
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.errors import MezzotintError
from mezzotint.jobs.tasks import RunKey

_HEAD = ("action", "input or prompt", "output", "size", "seed", "seconds", "reason")
_WIDTHS = (9, 28, 44, 9, 10, 7)
_MOST_PROMPT = 200
_MOST_WHY = 1000


class DryRun:
    """Goes through a job once: yields its rows as they come, and then has the totals."""

    def __init__(
        self,
        job: JobFile,
        base: Path,
        *,
        sizes: Sizes,
        times: Times,
        shard: Shard | None = None,
        is_done: Callable[[BatchTask], bool] = lambda _: False,
        listdir: Listdir | None = None,
    ) -> None:
        self._job, self._sizes, self._times, self._is_done = job, sizes, times, is_done
        self._folder = output_folder(job, base)
        self._stream = tasks_of(job, base=base, shard=shard, listdir=listdir)
        self._does: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._bytes, self._seconds, self._is_known = 0, 0.0, True
        self._how: Counter[HowKnown] = Counter()
        self._loads: dict[RunKey, float] = {}

    def rows(self) -> Iterator[DryRow]:
        """Yield every row."""
        for found in self._stream:
            row = self._skip(found) if isinstance(found, Skipped) else self._row(found)
            self._does[row.does] += 1
            yield row

    def totals(self) -> DryTotals:
        """Return the totals of the rows so far."""
        free = free_bytes(self._folder)
        rows = sum(self._does.values())
        to_make = sum(self._does[does] for does in ("make", "rename", "overwrite"))
        return DryTotals(
            tasks=rows - sum(self._skipped.values()),
            to_make=to_make,
            does=dict(self._does),
            skipped=dict(self._skipped),
            seconds=self._seconds + sum(self._loads.values()) if self._is_known else None,
            how_known=_least_sure(self._how),
            bytes=self._bytes,
            free_bytes=free,
            fits=free is None or self._bytes <= free,
        )

    def _skip(self, skipped: Skipped) -> DryRow:
        if not skipped.is_failure:
            self._skipped[skipped.kind] += 1
        does: DryDoes = "refuse" if skipped.is_failure else "skip"
        return DryRow(does=does, input=skipped.input, output=None, why=skipped.reason, kind=skipped.kind)

    def _row(self, task: BatchTask) -> DryRow:
        does, why = self._fate(task)
        if does in ("done", "skip"):
            return _of_task(task, does, why)
        try:
            width, height = self._sizes.size(task.request)
        except MezzotintError as error:
            return _of_task(task, "refuse", str(error), error.kind)
        duration = self._times.duration(task.request, (width, height))
        takes = bytes_of((width, height), self._job.output.format)
        self._bytes += takes
        self._how[duration.how] += 1
        self._is_known = self._is_known and duration.seconds is not None
        self._seconds += duration.seconds or 0.0
        self._loads[duration.key] = max(duration.load, self._loads.get(duration.key, 0.0))
        return DryRow(
            does=does,
            input=task.input,
            output=task.output,
            why=why,
            prompt=task.request.prompt[:_MOST_PROMPT],
            seed=task.request.seed,
            width=width,
            height=height,
            seconds=duration.seconds,
            bytes=takes,
        )

    def _fate(self, task: BatchTask) -> tuple[DryDoes, str]:
        if self._is_done(task):
            return "done", "already generated"
        if os.path.lexists(self._folder / task.output):
            existing = self._job.output.existing
            why = {"skip": "is kept", "rename": "is kept; the new one gets -1", "overwrite": "is replaced"}[existing]
            return existing, f"a file of that name exists, and {why}"
        twin = ("another image of the job has the same name",) if task.is_twin else ()
        return "make", "; ".join((*twin, *task.notices))


def _of_task(task: BatchTask, does: DryDoes, why: str, kind: str = "") -> DryRow:
    return DryRow(
        does=does,
        input=task.input,
        output=task.output,
        why=why,
        kind=kind,
        prompt=task.request.prompt[:_MOST_PROMPT],
        seed=task.request.seed,
    )


def _least_sure(how: "Counter[HowKnown]") -> HowKnown:
    order: tuple[HowKnown, ...] = ("unknown", "planned", "scaled", "measured")
    return next((one for one in order if how[one]), "unknown")


# ---- as text


def json_line(row: DryRow | DryTotals) -> str:
    """Format a row, or the totals, as one line of JSON."""
    name = "row" if isinstance(row, DryRow) else "totals"
    return f'{{"kind": "{name}", "{name}": {codec.to_json(row)}}}'


def table_head() -> str:
    """Return the header of the table."""
    return _line(_HEAD)


def table_line(row: DryRow) -> str:
    """Format a row of the table; column widths are fixed, since rows are streamed."""
    return _line(
        (
            row.does,
            row.input or row.prompt,
            row.output or "",
            "" if row.width is None else f"{row.width}x{row.height}",
            "" if row.seed is None else str(row.seed),
            "" if row.seconds is None else f"{row.seconds:.1f}",
            row.why,
        )
    )


def _line(cells: tuple[str, ...]) -> str:
    fixed = (plain(cell, width).ljust(width) for cell, width in zip(cells, _WIDTHS, strict=False))
    return "  ".join((*fixed, plain(cells[-1], _MOST_WHY))).rstrip()


def summary(totals: DryTotals) -> str:
    """Return the totals as text."""
    parts = [f"{totals.to_make} of {totals.tasks} to generate"]
    parts += [f"{totals.does[does]} {words}" for does, words in _FATES if totals.does.get(does)]
    parts += [f"{count} skipped ({kind})" for kind, count in sorted(totals.skipped.items())]
    time = "time unknown" if totals.seconds is None else f"about {_duration(totals.seconds)} ({totals.how_known})"
    room = f"about {size(totals.bytes)}"
    if totals.free_bytes is not None:
        room += f" of {size(totals.free_bytes)} free" + ("" if totals.fits else ": not enough space")
    return ", ".join(parts) + f"; {time}, {room}"


_FATES = (
    ("done", "already generated"),
    ("rename", "beside files of the same name"),
    ("overwrite", "replacing files"),
    ("refuse", "will be refused"),
)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
