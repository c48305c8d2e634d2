"""State of the batches: the part stored in a file, and the live state of each."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.batch_protocol import BatchProgress, BatchStatus, BatchStep, BatchTaskRow
from mezzotint_app.viewmodel.batch.form import BatchForm

MAX_BATCHES = 200  # batches listed

Stage = Literal["resting", "waiting", "running", "stopping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBatch:
    """A batch started here; its results are in its output folder."""

    id: str
    title: str = ""
    folder: str = ""  # output folder
    job: str = ""  # job file
    how: tuple[str, ...] = ()  # additional command line arguments
    grid: bool = False  # whether all images are also put into one


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchesState:
    """The page's stored state; every field has a default, so that files of older versions can be read."""

    form: BatchForm = field(default_factory=BatchForm)
    batches: tuple[KnownBatch, ...] = ()  # newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The live state of a batch."""

    known: KnownBatch
    stage: Stage = "resting"
    progress: BatchProgress | None = None  # of the current run
    step: BatchStep | None = None  # of the current image
    status: BatchStatus | None = None  # read from its folder
    failures: tuple[BatchTaskRow, ...] = ()  # the most recent failures, read from its folder
    unknown: str = ""  # why the status could not be read
    problem: str = ""  # error that ended the last run
    notice: str = ""  # why a running batch is waiting
    silent: bool = False  # no output for a long time

    @property
    def failed(self) -> int:
        """Return the number of failed images, as far as known."""
        if self.stage in ("running", "stopping") and self.progress is not None:
            return self.progress.failed + self.progress.set_aside + self.progress.left_failed
        return 0 if self.status is None else self.status.failed + self.status.set_aside
