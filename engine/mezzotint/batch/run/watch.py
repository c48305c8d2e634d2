"""An input folder that is watched: new images are taken as they come, once they have stopped growing."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.batch.job.job import InputFolder, JobFile
from mezzotint.batch.tasks.inputs import Found, scan
from mezzotint.batch.tasks.material import search_of
from mezzotint.batch.tasks.tasks import BatchTask, Shard, Skipped, tasks_of

PAUSE = 2.0  # seconds between looks; a file that is the same in two of them is whole

Signature = tuple[int, int]  # bytes, and when it was written
Signatures = dict[str, Signature]
Look = Callable[[], Signatures]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unseen(Shard):
    """What has not been taken yet: nothing else is opened and hashed again at every look."""

    taken: dict[str, tuple[str | None, Signature | None]] = field(default_factory=dict)  # by place
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=1))  # the last place

    def has(self, place: str) -> bool:
        """Whether it is to be looked at now."""
        self.asked.append(place)
        return Shard.has(self, place) and place not in self.taken


def watched(
    job: JobFile,
    *,
    base: Path,
    shard: Shard | None,
    stopped: threading.Event,
    look: Look,
    pause: float = PAUSE,
) -> Iterator[BatchTask | Skipped]:
    """The tasks of a job, and of what comes into its input folder later, until it is stopped. `look`: `signatures`."""
    unseen = _Unseen(index=0, count=1) if shard is None else _Unseen(index=shard.index, count=shard.count)
    before: Signatures = {}
    looked: Signatures = {}
    while not stopped.is_set():
        now = look()
        whole = {name: signature for name, signature in now.items() if before.get(name) == signature}
        before = now
        if whole != looked:
            looked = whole
            yield from _new(job, base, unseen, whole, now.keys() - whole.keys())
        stopped.wait(pause)


def _new(
    job: JobFile, base: Path, unseen: _Unseen, whole: Signatures, growing: Set[str]
) -> Iterator[BatchTask | Skipped]:
    for place, (name, signature) in list(unseen.taken.items()):
        if name in whole and whole[name] != signature:
            del unseen.taken[place]  # it has changed since
    for item in tasks_of(job, base=base, shard=unseen):
        if item.input in growing or (isinstance(item, BatchTask) and item.input not in whole):
            continue  # told or taken when it has stopped growing, or was there at the last look
        unseen.taken[unseen.asked[-1]] = (item.input, whole.get(item.input or ""))
        yield item


def signatures(asked: InputFolder, base: Path, output: Path) -> Signatures:
    """How the images of a folder are at the moment; one that went away meanwhile is left out."""
    found: Signatures = {}
    for one in scan(search_of(asked, base, output)):
        if isinstance(one, Found):
            with contextlib.suppress(OSError):
                status = one.path.stat()
                found[one.relative] = (status.st_size, status.st_mtime_ns)
    return found
