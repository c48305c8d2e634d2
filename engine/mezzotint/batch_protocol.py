"""The boundary's part about batches: jobs, what they would make, how they stand, what a run tells. Standard library."""

from dataclasses import dataclass, field
from typing import Literal

DryDoes = Literal["make", "rename", "overwrite", "done", "skip", "refuse"]
HowKnown = Literal["measured", "scaled", "planned", "unknown"]
BatchOutcome = Literal["done", "failed", "skipped", "set_aside"]

# ---- jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """A job as the JSON form of its file says it; relative paths in it are from `base`."""

    job: dict[str, object]
    base: str  # a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWrite:
    """A job to be kept as a file."""

    job: dict[str, object]
    path: str  # ends in .toml or .json
    overwrite: bool = False
    base: str | None = None  # given: relative paths are from it, and are written so that they mean the same


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWritten:
    """Where a job lies."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLook:
    """What would a job make? Nothing is made, and nothing written."""

    job: dict[str, object]
    base: str
    limit: int | None = None  # rows, after which the look ends; None: all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRow:
    """What would become of one task, or of one file that is none."""

    does: DryDoes  # rename, overwrite: a file of that name is there; refuse: the engine would
    input: str | None
    output: str | None
    why: str = ""
    kind: str = ""  # of the reason, where it is skipped or refused
    prompt: str = ""
    seed: int | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRows:
    """An event of a look: the next rows."""

    rows: tuple[DryRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DryTotals:
    """All rows together."""

    tasks: int
    to_make: int
    does: dict[str, int] = field(default_factory=dict)  # rows of each kind
    skipped: dict[str, int] = field(default_factory=dict)  # by what kind of reason
    seconds: float | None  # None: of some nothing is known
    how_known: HowKnown
    bytes: int
    free_bytes: int | None
    fits: bool  # on the disk, as far as is known
    is_whole: bool = True  # False: the look ended at its limit, and there is more


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFolder:
    """An output folder."""

    folder: str
    look_for_files: bool = False  # whether the images are still there, one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOwner:
    """Who makes images of a folder at the moment."""

    pid: int  # 0: it did not say
    host: str
    since: float  # seconds since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """How a run began, and whether it went through all of its tasks."""

    time: str  # UTC, when it began
    pid: int | None
    version: str  # of the program
    shard: str | None  # as 0/4
    is_ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """How the batch of an output folder stands."""

    title: str
    done: int
    failed: int
    set_aside: int
    skipped: int
    gone: int | None  # images that were made, and are not there any more; None: nobody has looked
    total: int | None  # of tasks, where a run has come to its end or has counted them
    kinds: dict[str, int]  # of failures
    is_ended: bool  # the last run of every manifest went through all of its tasks
    last_run: BatchRun | None
    running: tuple[BatchOwner, ...]
    shards: tuple[str, ...]  # that have a manifest, as 0/4
    shards_missing: tuple[str, ...]
    damaged_lines: int
    seconds: float  # of all images together


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTasks:
    """Which tasks of an output folder, in the order in which they last ended."""

    folder: str
    which: Literal["failed", "done", "all"] = "all"  # failed: also those that were set aside
    offset: int = 0
    limit: int = 200
    newest_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTaskRow:
    """What became of one task. Paths are from the input and the output folder, with / between folders."""

    status: BatchOutcome
    input: str | None
    output: str  # empty: the file was no task
    seed: int | None
    kind: str | None  # of the error, or of the reason to pass it over
    error: str | None
    seconds: float | None
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTaskPage:
    """A part of the tasks."""

    total: int
    rows: tuple[BatchTaskRow, ...]


# ---- lines of `mezzotint run JOB --jsonl`: {"kind": "settled", "settled": {...}}, and so on


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchBegun:
    """Line `begun`: the folder is ours, and work begins."""

    schema_version: int
    folder: str
    title: str
    pid: int
    shard: str | None
    devices: tuple[str, ...]  # empty: one engine in that process


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """Line `progress`, twice a second: the figures at one moment."""

    done: int  # by this run, safely on the disk
    failed: int
    set_aside: int
    skipped: int  # files that were no task, or whose image is there
    already: int  # done before this run
    left_failed: int  # failed before this run, and not tried again
    total: int | None  # of all these and what is still to be made; None: not known yet
    per_second: float | None  # images, lately
    seconds_left: float | None
    vram_bytes: int | None  # the most that an image took of a card


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStep:
    """Line `step`, a few in a second: how far an image is that is being made. Line `settled` is a BatchTaskRow."""

    output: str
    input: str | None
    prompt: str
    stage: int  # from 0
    stages: int
    step: int  # that are done
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPreview:
    """Line `preview`, with --jsonl-previews: an image that is being made, as it looks now."""

    output: str
    jpeg: str  # base64


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNotice:
    """Line `notice`: something that a person should know; the work goes on, or waits."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEnded:
    """Line `ended`: the run is over. What ended it otherwise follows as a line `error`."""

    stopped: Literal["finished", "interrupted"]
    failures: int  # that the manifest holds
    exit_code: int
    progress: BatchProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchError:
    """Line `error`, the last one: why the run ended, or never began."""

    kind: str  # of a MezzotintError
    message: str
    exit_code: int
