"""What is known of batches: kept in a file, and what is shown of each while it is worked at."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.batch_protocol import BatchProgress, BatchStatus, BatchStep, BatchTaskRow
from mezzotint_app.viewmodel.batch.form import BatchForm

MOST = 200  # batches that are listed

Stage = Literal["resting", "waiting", "running", "stopping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBatch:
    """A batch that was begun here; what became of it stands in its output folder."""

    id: str
    title: str = ""
    folder: str = ""  # where its images go
    job: str = ""  # the file that says it
    how: tuple[str, ...] = ()  # words of the command beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchesState:
    """The page as it was left; every field has a default, so that a file of an older version is taken."""

    form: BatchForm = field(default_factory=BatchForm)
    batches: tuple[KnownBatch, ...] = ()  # the newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as it is now."""

    known: KnownBatch
    stage: Stage = "resting"
    progress: BatchProgress | None = None  # of the run that is under way
    step: BatchStep | None = None  # of the image that is being made
    status: BatchStatus | None = None  # by what its folder holds
    failures: tuple[BatchTaskRow, ...] = ()  # the last few, by what its folder holds
    unknown: str = ""  # why that cannot be said
    problem: str = ""  # what ended the last run
    notice: str = ""  # why it waits, though it runs
    silent: bool = False  # nothing was heard of it for long

    @property
    def failed(self) -> int:
        """Images that could not be made, as far as is known."""
        if self.stage in ("running", "stopping") and self.progress is not None:
            return self.progress.failed + self.progress.set_aside + self.progress.left_failed
        return 0 if self.status is None else self.status.failed + self.status.set_aside
