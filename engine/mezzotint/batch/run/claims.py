"""Output files claimed by the tasks of a run that overwrites, so that no task overwrites another's image."""

import hashlib
from itertools import count
from pathlib import Path, PurePosixPath

from mezzotint.batch.run.found import is_taken
from mezzotint.batch.tasks.inputs import folded
from mezzotint.batch.tasks.tasks import BatchTask


class Claims:
    """Which task has which file. Names that some file systems treat as one count as one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holders: dict[int, int] = {}  # hashes of names to hashes of tasks: a job may have many

    def claim(self, output: str, task: BatchTask) -> bool:
        """Claim a file for a task; False if another task has it."""
        # Not by key: a task whose input has changed is still the same task.
        mine = _number(f"{task.input}\0{task.settings_hash}\0{task.request.seed}")
        return self._holders.setdefault(_number(folded(output)), mine) == mine

    def claim_beside(self, output: str, task: BatchTask) -> str:
        """Claim a similar name that no task has and no file exists under."""
        path = PurePosixPath(output)
        for number in count(1):
            name = str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
            if not is_taken(self._folder / name) and self.claim(name, task):
                return name
        raise AssertionError("numbers do not end")


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
