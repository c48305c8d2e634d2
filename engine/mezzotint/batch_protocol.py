"""Protocol types for batches: jobs, dry runs, status and progress. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

DryDoes = Literal["make", "rename", "overwrite", "done", "skip", "refuse"]
HowKnown = Literal["measured", "scaled", "planned", "unknown"]
BatchOutcome = Literal["done", "failed", "skipped", "set_aside"]

SHEET_NAME = "mezzotint-grid.png"  # in the output folder of a grid: all its images in one, labelled

# ---- jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """A job in the JSON form of its file; relative paths in it are relative to `base`."""

    job: dict[str, object]
    base: str  # a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWrite:
    """A job to be saved as a file."""

    job: dict[str, object]
    path: str  # ends in .toml or .json
    overwrite: bool = False
    base: str | None = None  # if given, relative paths are relative to it, and are rewritten to keep their meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWritten:
    """The path of a saved job."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLook:
    """Request for a dry run of a job; nothing is generated or written."""

    job: dict[str, object]
    base: str
    limit: int | None = None  # maximum number of rows; None: all


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRow:
    """What would happen to one task, or to one file that is not a task."""

    does: DryDoes  # rename, overwrite: a file of that name exists; refuse: the engine would refuse it
    input: str | None
    output: str | None
    why: str = ""
    kind: str = ""  # kind of reason, if skipped or refused
    prompt: str = ""
    seed: int | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRows:
    """Event of a dry run: the next rows."""

    rows: tuple[DryRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DryTotals:
    """Totals over all rows."""

    tasks: int
    to_make: int
    does: dict[str, int] = field(default_factory=dict)  # rows by kind
    skipped: dict[str, int] = field(default_factory=dict)  # rows by kind of reason
    seconds: float | None  # None: unknown for some tasks
    how_known: HowKnown
    bytes: int
    free_bytes: int | None
    fits: bool  # on the disk, as far as known
    is_whole: bool = True  # False: stopped at the limit; there are more rows


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFolder:
    """Request for the status of an output folder."""

    folder: str
    look_for_files: bool = False  # check for each image whether it still exists


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOwner:
    """A process writing to a folder at the moment."""

    pid: int  # 0: unknown
    host: str
    since: float  # seconds since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """A run: when and how it started, and whether it finished all of its tasks."""

    time: str  # UTC start time
    pid: int | None
    version: str  # of the program
    shard: str | None  # as 0/4
    is_ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """The status of an output folder's batch."""

    title: str
    done: int
    failed: int
    set_aside: int
    skipped: int
    gone: int | None  # generated images that no longer exist; None: not checked
    total: int | None  # number of tasks, if a run has finished or counted them
    kinds: dict[str, int]  # failures by kind
    is_ended: bool  # the last run of every manifest finished all of its tasks
    last_run: BatchRun | None
    running: tuple[BatchOwner, ...]
    shards: tuple[str, ...]  # with a manifest, as 0/4
    shards_missing: tuple[str, ...]
    damaged_lines: int
    seconds: float  # for all images together


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTasks:
    """Query for tasks of an output folder, in the order in which they last ended."""

    folder: str
    which: Literal["failed", "done", "all"] = "all"  # failed: includes tasks set aside
    offset: int = 0
    limit: int = 200
    newest_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTaskRow:
    """The outcome of one task. Paths are relative to the input and the output folder, with / separators."""

    status: BatchOutcome
    input: str | None
    output: str  # empty: the file was not a task
    seed: int | None
    kind: str | None  # kind of error or of skip reason
    error: str | None
    seconds: float | None
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTaskPage:
    """A page of tasks."""

    total: int
    rows: tuple[BatchTaskRow, ...]


# ---- lines of `mezzotint run JOB --jsonl`: {"kind": "settled", "settled": {...}}, and so on


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchBegun:
    """Line `begun`: the folder is locked, and work starts."""

    schema_version: int
    folder: str
    title: str
    pid: int
    shard: str | None
    devices: tuple[str, ...]  # empty: one in-process engine


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """Line `progress`, twice a second: the current counts."""

    done: int  # by this run, safely on disk
    failed: int
    set_aside: int
    skipped: int  # files that were not tasks, or whose image exists
    already: int  # done before this run
    left_failed: int  # failed before this run, not retried
    total: int | None  # all of these plus what remains; None: not known yet
    per_second: float | None  # recent images per second
    seconds_left: float | None
    vram_bytes: int | None  # peak VRAM of one image


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStep:
    """Line `step`, a few times a second: progress of the current image. Line `settled` is a BatchTaskRow."""

    output: str
    input: str | None
    prompt: str
    stage: int  # from 0
    stages: int
    step: int  # steps done
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPreview:
    """Line `preview`, with --jsonl-previews: a preview of the current image."""

    output: str
    jpeg: str  # base64


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNotice:
    """Line `notice`: information for the user; the work continues, or waits."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEnded:
    """Line `ended`: the run is over. If an error ended it, a line `error` follows."""

    stopped: Literal["finished", "interrupted"]
    failures: int  # failures in the manifest
    exit_code: int
    progress: BatchProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchError:
    """Line `error`, the last one: why the run ended, or did not start."""

    kind: str  # kind of MezzotintError
    message: str
    exit_code: int


# ---- wildcards

MOST_DRAWN = 1000  # prompts of one request
MOST_WILDCARD_TEXT = 4 << 20  # bytes of a file
# Names consist of word characters, so that none can be `..`; bounded, so that a run of underscores stays fast.
WILDCARD_NAME = r"\w(?:(?!__)[\w.-]){0,80}(?:/\w(?:(?!__)[\w.-]){0,80}){0,8}"
WILDCARD_GLOB = r"[\w*](?:(?!__)[\w.*-]){0,80}(?:/[\w*](?:(?!__)[\w.*-]){0,80}){0,8}"  # or several names: colours/*


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRequest:
    """Request for what is drawn for a prompt with wildcards and alternatives, by seed."""

    prompt: str
    wildcards: str  # folder
    seeds: tuple[int, ...]
    given: dict[str, str] = field(default_factory=dict)  # texts by name, instead of those in files


@dataclass(frozen=True, slots=True, kw_only=True)
class WildcardFolder:
    """Request for the names of a folder's wildcards."""

    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WildcardName:
    """Request for the text of a wildcard."""

    folder: str
    name: str  # as in a prompt, without underscores


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveWildcard:
    """Request to write the text of a wildcard."""

    folder: str
    name: str
    text: str  # a line for each value; # begins a comment
    replaces: bool = False  # False: an existing wildcard of that name is an error
