"""What a person decides about a run of a batch."""

from dataclasses import dataclass

from mezzotint.batch.job.job import Existing


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a batch is run."""

    existing: Existing = "rename"
    retry_failed: bool = False
    waits_for_room: bool = False  # when the disk is full: wait until it is not, or end
