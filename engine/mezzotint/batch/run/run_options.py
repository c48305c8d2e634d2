"""User options for running a batch."""

from dataclasses import dataclass

from mezzotint.batch.job.job import Existing


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a batch is run."""

    existing: Existing = "rename"
    retry_failed: bool = False
    waits_for_room: bool = False  # if the disk is full, wait for space instead of ending
