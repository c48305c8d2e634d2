"""Programs that process a queue and crash on the way; referred to by name, since each runs in its own process."""

import hashlib
import os
import struct
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

from fake_engine import result_of

from mezzotint.atomic import atomic_write
from mezzotint.codec import encode, to_json
from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.jobs.drain import DrainControl, drain
from mezzotint.jobs.store import Held, JobStore, Lease, owner_is_alive
from mezzotint.protocol import GeneratedImage, Output, Saved, Step

PNG = b"\x89PNG\r\n\x1a\n"


class WritingEngine:
    """Writes small real PNG files with our metadata to the template's path; `at` is called at each point."""

    def __init__(self, at=lambda point: None):
        self.at = at

    def generate(self, request, on_event, cancelled):
        images = []
        for index in range(request.count):
            self.at("step")
            time.sleep(0.005)  # work that can be interrupted
            on_event(Step(image=index, images=request.count, stage=0, stages=1, step=1, steps=1, sigma=1, preview=None))
            if cancelled():
                raise Cancelled("stopped")
            image = self.write(request, index)
            self.at("written")
            on_event(Saved(image=image, images=request.count))
            self.at("told")
            images.append(image)
        return replace(result_of(request, images), seed=request.seed)

    def write(self, request, index):
        seed = request.seed + index
        wanted = Path(request.output.path.replace("[seed]", str(seed)))
        wanted.parent.mkdir(parents=True, exist_ok=True)
        image = GeneratedImage(path=wanted.name, width=1, height=1, seed=seed, index=index, sha256=_digest(seed))
        record = {"schema_version": 1, "request": encode(replace(request, seed=seed, count=1, output=Output()))}
        for path in (wanted, *(wanted.with_stem(f"{wanted.stem}-{twin}") for twin in range(1, 99))):
            try:
                atomic_write(path, image_file(to_json({**record, "image": encode(image)})), overwrite=False)
            except FileExistsError:
                continue
            return replace(image, path=str(path))
        raise MezzotintError("no free name")

    def close(self):
        return None


def _digest(seed):
    return hashlib.sha256(str(seed).encode()).hexdigest()


def image_file(record):
    """Return a PNG file of one grey pixel with a metadata record."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    text = chunk(b"tEXt", b"mezzotint\0" + record.encode("ascii"))
    return PNG + chunk(b"IHDR", header) + text + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


def work(path, leases, device, resume, die_at="", number=0):
    """Recover, resume if asked, and process waiting tasks; exit abruptly at the given point, the `number`th time."""
    seen = []

    def at(point):
        seen.append(point)
        sys.stdout.write(".\n")  # a watcher may kill this process now
        sys.stdout.flush()
        if point == die_at and seen.count(point) > number:
            os._exit(137)

    lease = Lease.acquire(device, leases, what="a test")
    assert not isinstance(lease, Held), str(lease)
    with JobStore.open(path).store as store:
        store.recover(lambda owner: owner_is_alive(owner, leases))
        if resume:
            store.resume_interrupted()
        at("begun")
        drain(
            store,
            lease.owner,
            WritingEngine(at),
            DrainControl(on_event=lambda _: None, cancelled=lambda: False),
            on_begun=lambda _: at("claimed"),
            on_ended=lambda _: at("finished"),
        )


if __name__ == "__main__":
    database, folder, device_name, *death = sys.argv[1:]
    work(Path(database), Path(folder), device_name, True, *(death[:1]), *(map(int, death[1:])))
