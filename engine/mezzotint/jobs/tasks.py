"""Types of the queue, as its clients see them."""

from dataclasses import dataclass
from typing import Literal

from mezzotint.queue_protocol import Task as Task
from mezzotint.queue_protocol import TaskState as TaskState

EntryKind = Literal["generate", "decode"]
Basis = Literal["measured", "scaled", "unknown"]

DEATHS_TO_SET_ASIDE = 2  # of the process that runs a task, after which the task is not retried automatically


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCounts:
    """How many tasks of an entry are in each state."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    set_aside: int = 0
    interrupted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """An entry as a list shows it."""

    id: int
    title: str
    kind: EntryKind
    model: str  # of its first stage; empty: the default model
    state: TaskState  # of the entry as a whole
    counts: TaskCounts
    tasks: int
    position: float  # entries are processed in ascending order
    created: float  # seconds since 1970, like the next two
    started: float | None
    finished: float | None
    error: str | None  # of one of its tasks
    first_image: str | None  # the path of the first image made
    images: int  # made so far
    images_asked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry with all of its tasks."""

    row: EntryRow
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The ids of tasks whose process had died, by outcome."""

    done: tuple[int, ...] = ()  # all of their images exist
    interrupted: tuple[int, ...] = ()
    set_aside: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()  # cancellation was already requested


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """What determines how long an image takes, apart from the number of steps."""

    model: str  # of all stages
    quantization: str
    width: int  # pixels; 0: model default
    height: int
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSeconds:
    """The seconds of one task, by phase."""

    load: float  # per task
    encode: float  # per task
    step: float  # per step
    decode: float  # per image
    save: float  # per image
    steps: int = 0  # number of steps per image; 0: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A time estimate based on earlier runs."""

    seconds: float | None  # None: unknown
    phases: PhaseSeconds | None
    basis: Basis
