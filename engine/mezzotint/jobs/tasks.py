"""What the queue holds, as those who look at it see it."""

from dataclasses import dataclass
from typing import Literal

from mezzotint.queue_protocol import Task as Task
from mezzotint.queue_protocol import TaskState as TaskState

EntryKind = Literal["generate", "decode"]
HowSure = Literal["measured", "scaled", "unknown"]

DEATHS_TO_SET_ASIDE = 2  # of the process that runs a task, until it is not begun again by itself


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
    state: TaskState  # of the whole
    counts: TaskCounts
    tasks: int
    position: float  # entries are worked through from the smallest
    created: float  # seconds since 1970, as are the next two
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
    """What became of the tasks whose process has died: the ids of them."""

    done: tuple[int, ...] = ()  # all of their images are there
    interrupted: tuple[int, ...] = ()
    set_aside: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()  # they were to be stopped anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """What decides how long an image takes, beside the number of steps."""

    model: str  # of all stages
    quantization: str
    width: int  # pixels; 0: model default
    height: int
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSeconds:
    """Seconds of one task: of the whole, and of each image or step of it."""

    load: float  # of the task
    encode: float  # of the task
    step: float
    decode: float  # of an image
    save: float  # of an image
    steps: int = 0  # that each image took; 0: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """How long work will take, as far as earlier work tells."""

    seconds: float | None  # None: nothing is known
    phases: PhaseSeconds | None
    how_sure: HowSure
