"""How many tasks a job will have, before the last one is come to: an estimate for the time that is left."""

from dataclasses import replace
from pathlib import Path

from mezzotint.batch.inputs import Found, scan
from mezzotint.batch.job import JobFile
from mezzotint.batch.material import search_of
from mezzotint.batch.tasks import Shard, output_folder, tasks_of


def expected_tasks(job: JobFile, *, base: Path, shard: Shard | None = None) -> int:
    """All tasks of a job of words; of a folder, as many for each picture as the first one has. Nothing else is opened.

    Raises what reading the job raises.
    """
    if job.input is None:
        return sum(1 for _ in tasks_of(job, base=base, shard=shard))
    first = sum(1 for _ in tasks_of(replace(job, input=replace(job.input, limit=1)), base=base))
    found = sum(isinstance(one, Found) for one in scan(search_of(job.input, base, output_folder(job, base))))
    return found * first // (1 if shard is None else shard.count)
