"""The boundary, about the queue: what whoever drains it is asked, what it tells on the way, and why it ended."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mezzotint.protocol import Attention, Event, Failure, GeneratedImage, GenerateRequest, GenerateResult

TaskState = Literal["waiting", "running", "done", "failed", "cancelled", "set_aside", "interrupted"]
DrainStopped = Literal["empty", "paused", "cancelled", "disk_full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One request of an entry, and how far it is."""

    id: int
    entry: int
    index: int  # in its entry, from 0
    request: GenerateRequest  # of a task that was claimed: for those of its images that are to be made now
    state: TaskState
    attempts: int  # begun, and not ended in good order
    error_kind: str | None
    error: str | None
    images: tuple[GeneratedImage, ...]  # `index` is that in the whole count
    seconds: float | None  # worked at it so far


# ---- what it is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainSettings:
    """What tasks are made with where they do not say it themselves."""

    device: str = "auto"
    attention: Attention = "auto"
    previews: bool = False  # also where a task asks for none


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRequest:
    """Make what waits until nothing does, or the queue is paused."""

    owner: str  # of the lease, which whoever asks holds until this has ended
    settings: DrainSettings = field(default_factory=DrainSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainResult:
    """Why it ended, and how many tasks became what."""

    stopped: DrainStopped
    done: int
    failed: int
    reason: str = ""  # of a full disk, in words


# ---- what it tells: between these two come the events of the task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBegun:
    """A task was claimed."""

    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded:
    """What became of it; with neither a result nor a failure one of its images was finished from its latents."""

    task: int
    state: TaskState | None  # None: it was removed meanwhile
    result: GenerateResult | None
    failure: Failure | None


QueueEvent = TaskBegun | TaskEnded
DrainEvent = Event | QueueEvent
OnDrainEvent = Callable[[DrainEvent], None]
