"""Drain the queue: claim, generate, save, until it is empty. Every program that processes the queue uses this code."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mezzotint.errors import DeviceLost, StorageError
from mezzotint.jobs.store import JobStore, Task
from mezzotint.jobs.task_run import LOOK, TaskRun
from mezzotint.jobs.task_run import DrainControl as DrainControl
from mezzotint.jobs.task_run import Ended as Ended
from mezzotint.queue_protocol import DrainResult

if TYPE_CHECKING:
    from mezzotint.engine import Engine


def drain(
    store: JobStore,
    owner: str,
    engine: "Engine",
    control: DrainControl,
    *,
    until_empty: bool = True,
    on_begun: Callable[[Task], None] = lambda _: None,
    on_ended: Callable[[Ended], None] = lambda _: None,
    wait: Callable[[float], None] = time.sleep,
) -> DrainResult:
    """Run the waiting tasks as the owner of the lease; without `until_empty`, wait for more.

    Raises StorageError if the queue itself cannot be written, and DeviceLost if this process is no longer usable.
    """
    done = failed = 0
    refused_latents: set[str] = set()
    while not control.cancelled():
        task = store.claim(owner)
        if task is None:
            if until_empty:
                return DrainResult(stopped="paused" if store.paused() else "empty", done=done, failed=failed)
            wait(LOOK)
            continue
        on_begun(task)
        ended = TaskRun(store, task, control, refused_latents).run(engine)
        done, failed = done + (ended.state == "done"), failed + (ended.state in ("failed", "set_aside"))
        on_ended(ended)
        if isinstance(ended.error, DeviceLost):
            raise ended.error
        if isinstance(ended.error, StorageError) and ended.state == "waiting":
            return DrainResult(stopped="disk_full", done=done, failed=failed, reason=str(ended.error))
    return DrainResult(stopped="cancelled", done=done, failed=failed)
