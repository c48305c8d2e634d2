"""Dry runs for a window or a terminal, with measured times and the images that were already made."""

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from mezzotint.batch.job.job import JobFile
from mezzotint.batch.job.reading import job_of_data
from mezzotint.batch.manifest.task_history import TaskHistories
from mezzotint.batch.run.found import is_taken
from mezzotint.batch.tasks.dry_run import DryRun
from mezzotint.batch.tasks.estimate import Sizes, Times
from mezzotint.batch.tasks.inputs import Listdir, scandir
from mezzotint.batch.tasks.tasks import BatchTask, Shard, output_folder
from mezzotint.batch_protocol import BatchLook, DryRow, DryRows, DryTotals
from mezzotint.catalog import Catalog
from mezzotint.errors import Cancelled, StorageError, UsageError
from mezzotint.jobs.store import JobStore
from mezzotint.jobs.tasks import Expected
from mezzotint.protocol import GenerateRequest, IsCancelled, ModelRef, OnEvent, Plan, PlanRequest
from mezzotint.stages.images.request_images import natural_size
from mezzotint.trouble import shown

AT_ONCE = 200  # rows that are sent together
_SECONDS = 0.25  # after which rows are sent, however few
_CHARACTERS = 200_000  # of buffered rows, at which they are sent

Learned = Callable[[GenerateRequest], Expected]
Planned = Callable[[PlanRequest], Plan]


@contextlib.contextmanager
def open_dry_run(
    job: JobFile,
    base: Path,
    catalog: Catalog,
    *,
    shard: Shard | None = None,
    planned: Planned | None = None,
    listdir: Listdir | None = None,
) -> Iterator[DryRun]:
    """A dry run, with the queue open for its measured times. `planned`: used where nothing was measured."""
    folder = output_folder(job, base)
    histories = TaskHistories.read(folder)

    def is_done(task: BatchTask) -> bool:
        found = histories.get(task.key)
        return found.status == "done" and is_taken(folder / found.output)

    default = catalog.default()
    with contextlib.ExitStack() as stack:
        yield DryRun(
            job,
            base,
            sizes=Sizes(catalog.find, default),
            times=Times(_learned(stack), planned, default_model=default.id),
            shard=shard,
            is_done=is_done,
            listdir=listdir,
        )


def _learned(stack: contextlib.ExitStack) -> Learned | None:
    """Return the measured times of the queue, or None if it cannot be read."""
    try:
        return stack.enter_context(JobStore.open(size_of=natural_size).store).expected
    except StorageError:
        return None


def stream_dry_run(asked: BatchLook, catalog: Catalog, on_event: OnEvent, cancelled: IsCancelled) -> DryTotals:
    """Send every row, in groups as they come, and return the totals of these. Cancellable at any row or file."""
    job, base = job_of_data(asked.job), Path(asked.base)
    if not base.is_absolute():
        raise UsageError(
            f"{shown(base)} is not an absolute path: give the absolute path of the folder that paths are relative to"
        )
    if asked.limit is not None and asked.limit < 0:
        raise UsageError(f"the limit {asked.limit} is invalid; expected a whole number, 0 or more")
    if job.settings.model is not None:
        catalog.find(ModelRef(id=job.settings.model))  # fail once, and not for every image
    with open_dry_run(job, base, catalog, listdir=lambda folder: _listed(folder, cancelled)) as run:
        group, rows = _Group(on_event), run.rows()
        for row in itertools.islice(rows, asked.limit):
            group.add(row)
            _check(cancelled)
        group.send()
        totals = run.totals()
        is_whole = asked.limit is None or next(rows, None) is None
    return replace(totals, is_whole=is_whole)


def _listed(folder: Path, cancelled: IsCancelled) -> "Iterator[os.DirEntry[str]]":
    """Yield the entries of a folder, checking for cancellation even where nothing matches."""
    for entry in scandir(folder):
        _check(cancelled)
        yield entry


def _check(cancelled: IsCancelled) -> None:
    if cancelled():
        raise Cancelled("stopped")


class _Group:
    """Buffers rows and sends them in groups, without long delays."""

    def __init__(self, on_event: OnEvent, clock: Callable[[], float] = time.monotonic) -> None:
        self._on_event, self._clock = on_event, clock
        self._rows: list[DryRow] = []
        self._characters, self._last_sent = 0, clock()

    def add(self, row: DryRow) -> None:
        """Add a row."""
        self._rows.append(row)
        self._characters += sum(len(text) for text in (row.input, row.output, row.why, row.prompt) if text)
        is_time = self._clock() - self._last_sent >= _SECONDS
        if is_time or len(self._rows) >= AT_ONCE or self._characters >= _CHARACTERS:
            self.send()

    def send(self) -> None:
        """Send the buffered rows."""
        if self._rows:
            self._on_event(DryRows(rows=tuple(self._rows)))
        self._rows, self._characters, self._last_sent = [], 0, self._clock()
