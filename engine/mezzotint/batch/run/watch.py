"""Watch an input folder: new images are taken as they arrive, once they have stopped growing."""

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

PAUSE = 2.0  # seconds between scans; a file unchanged in two scans is complete

Signature = tuple[int, int]  # size in bytes, and mtime in ns
Signatures = dict[str, Signature]
Look = Callable[[], Signatures]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unseen(Shard):
    """The tasks not taken yet, so that a scan does not open and hash the others again."""

    taken: dict[str, tuple[str | None, Signature | None]] = field(
        default_factory=dict
    )  # input and signature, by digest
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=1))  # the digest queried last

    def has(self, digest: str) -> bool:
        """Whether the task belongs to the shard and has not been taken yet."""
        self.asked.append(digest)
        return Shard.has(self, digest) and digest not in self.taken


def watched(
    job: JobFile,
    *,
    base: Path,
    shard: Shard | None,
    stopped: threading.Event,
    look: Look,
    pause: float = PAUSE,
) -> Iterator[BatchTask | Skipped]:
    """Yield the tasks of a job and of images added to its input folder later, until `stopped`. `look`: `signatures`."""
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
    for digest, (name, signature) in list(unseen.taken.items()):
        if name in whole and whole[name] != signature:
            del unseen.taken[digest]  # changed since
    for item in tasks_of(job, base=base, shard=unseen):
        if item.input in growing or (isinstance(item, BatchTask) and item.input not in whole):
            continue  # left for a later scan: still growing, or not there yet at this one
        unseen.taken[unseen.asked[-1]] = (item.input, whole.get(item.input or ""))
        yield item


def signatures(asked: InputFolder, base: Path, output: Path) -> Signatures:
    """Return size and mtime of the images of a folder; leaves out those that vanish meanwhile."""
    found: Signatures = {}
    for one in scan(search_of(asked, base, output)):
        if isinstance(one, Found):
            with contextlib.suppress(OSError):
                status = one.path.stat()
                found[one.relative] = (status.st_size, status.st_mtime_ns)
    return found
