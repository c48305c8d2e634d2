"""The files that tasks of one run have, or are to have, where what is there is overwritten: none by another of them."""

import hashlib
from itertools import count
from pathlib import Path, PurePosixPath

from mezzotint.batch.run.found import is_taken
from mezzotint.batch.tasks.inputs import folded
from mezzotint.batch.tasks.tasks import BatchTask


class Claims:
    """Who has which file. Names that some disks take for one are one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holders: dict[int, int] = {}  # by numbers that stand for names and tasks: a job may have many

    def claim(self, output: str, task: BatchTask) -> bool:
        """Whether the task has this file, from now on or from before; not when another has it."""
        # Not by its key: one whose input has changed is the task that it was.
        mine = _number(f"{task.input}\0{task.settings_hash}\0{task.request.seed}")
        return self._holders.setdefault(_number(folded(output)), mine) == mine

    def claim_beside(self, output: str, task: BatchTask) -> str:
        """A name like it which nobody has, and no file: it is the task's."""
        path = PurePosixPath(output)
        for number in count(1):
            name = str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
            if not is_taken(self._folder / name) and self.claim(name, task):
                return name
        raise AssertionError("numbers do not end")


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
