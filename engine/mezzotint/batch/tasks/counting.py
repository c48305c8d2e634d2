"""Estimate how many tasks a job has before all are known, for the remaining time."""

from itertools import groupby, islice
from pathlib import Path

from mezzotint.batch.job.job import JobFile
from mezzotint.batch.tasks.inputs import Found, scan
from mezzotint.batch.tasks.material import search_of
from mezzotint.batch.tasks.tasks import BatchTask, Shard, output_folder, tasks_of

_MOST_OPENED = 20  # unusable images, before assuming one task for each image


def expected_tasks(job: JobFile, *, base: Path, shard: Shard | None = None) -> int:
    """Count the tasks of a job of prompts; of a folder, assume as many for each image as the first usable one has.

    Opens no other image. Raises what reading the job raises.
    """
    if job.input is None:
        return sum(1 for _ in tasks_of(job, base=base, shard=shard))
    first = _of_an_image(job, base)
    found = sum(isinstance(one, Found) for one in scan(search_of(job.input, base, output_folder(job, base))))
    return found * first // (1 if shard is None else shard.count)


def _of_an_image(job: JobFile, base: Path) -> int:
    """Return the number of tasks of the first usable image; unusable ones have none."""
    by_image = groupby(tasks_of(job, base=base), lambda item: item.input)
    for _, items in islice(by_image, _MOST_OPENED):
        found = list(items)
        if any(isinstance(item, BatchTask) for item in found):
            return len(found)
    return 1
