"""Protocol types for the queue: drain requests, events and results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mezzotint.protocol import Attention, Event, Failure, GeneratedImage, GenerateRequest, GenerateResult
from mezzotint.training_protocol import TrainingEvent

TaskState = Literal["waiting", "running", "done", "failed", "cancelled", "set_aside", "interrupted"]
DrainStopped = Literal["empty", "paused", "cancelled", "disk_full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One request of a queue entry, and its progress."""

    id: int
    entry: int
    index: int  # within its entry, from 0
    request: GenerateRequest  # of a claimed task: covers only the images that still have to be generated
    state: TaskState
    attempts: int  # attempts that did not end cleanly
    error_kind: str | None
    error: str | None
    images: tuple[GeneratedImage, ...]  # `index` counts over the whole request
    seconds: float | None  # work time so far


# ---- requests


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainSettings:
    """Defaults for tasks that do not set these values."""

    device: str = "auto"
    attention: Attention = "auto"
    previews: bool = False  # even if a task requests none


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRequest:
    """Run waiting tasks until none is left or the queue is paused."""

    owner: str  # of the lease, which the caller holds until the drain has ended
    settings: DrainSettings = field(default_factory=DrainSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainResult:
    """Why a drain ended, and counts of task outcomes."""

    stopped: DrainStopped
    done: int
    failed: int
    reason: str = ""  # description of a full disk


# ---- events: those of the task come between these two


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBegun:
    """A task was claimed."""

    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded:
    """A task ended; without result and failure, an image was finished from its latents."""

    task: int
    state: TaskState | None  # None: removed meanwhile
    result: GenerateResult | None
    failure: Failure | None


QueueEvent = TaskBegun | TaskEnded
DrainEvent = Event | QueueEvent
OnDrainEvent = Callable[[DrainEvent], None]
JobEvent = DrainEvent | TrainingEvent
OnJobEvent = Callable[[JobEvent], None]
