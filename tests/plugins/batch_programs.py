"""A batch over a fast engine that writes small real images, in processes that may be killed; also run as a program.

python batch_programs.py run OUT TASKS [--devices N] [--shard I/N] [--retry-failed] [--together N]    the run
python batch_programs.py serve --hold FILE                                             a worker of it
"""

import argparse
import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # where Python leaves the script's folder out of sys.path

from fake_engine import VERSIONS, result_of
from PIL import Image

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.shards import parsed
from mezzotint.batch.run.listener import Silent
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.run.run import Run, RunOptions
from mezzotint.batch.run.workers import EngineWorker, ProcessWorker
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.errors import DeviceLost, ImageRefused, MezzotintError, NoDevice
from mezzotint.images.record import ImageRecord
from mezzotint.images.writing import pixels_sha256, write_image
from mezzotint.jobs.locked_file import LockedFile
from mezzotint.protocol import (
    SCHEMA_VERSION,
    Cascade,
    Failure,
    GeneratedImage,
    GenerateManyResult,
    GenerateRequest,
    ManyOutcome,
    OfRequest,
    Output,
    Saved,
    Stage,
    Step,
)
from mezzotint.server import serve

SIDE = 16


def task(number, folder, prompt=None, **changes) -> BatchTask:
    """Return a task whose image encodes its number."""
    words = prompt if prompt is not None else f"number {number}"
    name = f"{number % 10}/{number:05d}.png"
    cascade = Cascade(stages=(Stage(),))
    request = GenerateRequest(prompt=words, cascade=cascade, seed=number, output=Output(path=str(Path(folder, name))))
    values = {
        "key": hashlib.sha256(f"{words} {number}".encode()).hexdigest(),
        "request": request,
        "input": None,
        "output": name,
        "settings_hash": "5" * 64,
        "input_hash": None,
    }
    return BatchTask(**values | changes)


def painted(seed) -> Image.Image:
    """Return the image of a seed: its hash, repeated."""
    digest = hashlib.sha256(str(seed).encode()).digest()
    return Image.frombytes("RGB", (SIDE, SIDE), (digest * SIDE * SIDE)[: SIDE * SIDE * 3])


class StandIn:
    """An engine that paints instantly. Prompts trigger faults: poison, lost, refused, nowhere, bug."""

    def __init__(self, catalog=None, at=lambda point: None):
        self.at = at
        self.requests = []
        self.groups = []  # size of each group of images
        self.closed = False

    def generate(self, request, on_event, cancelled):
        self.requests.append(request)
        fault = getattr(self, f"_{request.prompt.partition(' ')[0]}", None)
        if fault is not None:
            fault()
        self.at("begun")
        on_event(Step(image=0, images=1, stage=0, stages=1, step=1, steps=1, sigma=1, preview=None))
        image = self.write(request)
        self.at("written")
        on_event(Saved(image=image, images=1))
        return replace(result_of(request, [image]), seed=request.seed, notices=())

    def generate_many(self, request, on_event, cancelled):
        """Generate one by one; a failure affects no other image, except a lost device or a fatal error."""
        self.groups.append(len(request.requests))
        outcomes = []
        for index, one in enumerate(request.requests):
            result = failure = None
            try:
                result = self.generate(
                    one, lambda event, index=index: on_event(OfRequest(request=index, event=event)), cancelled
                )
            except DeviceLost:
                raise
            except MezzotintError as error:
                failure = Failure(kind=error.kind, message=str(error))
            except Exception as error:  # noqa: BLE001  as in the engine
                failure = Failure(kind="bug", message=f"unexpected {type(error).__name__}: please report it")
            outcomes.append(ManyOutcome(result=result, failure=failure))
        return GenerateManyResult(schema_version=SCHEMA_VERSION, outcomes=tuple(outcomes))

    def write(self, request):
        """Save like any image: encoded with its metadata, under a free name."""
        pixels = painted(request.seed)
        path = Path(request.output.path)
        image = GeneratedImage(
            path=path.name, width=SIDE, height=SIDE, seed=request.seed, index=0, sha256=pixels_sha256(pixels)
        )
        record = ImageRecord(
            schema_version=SCHEMA_VERSION,
            program_version="0",
            request=replace(request, output=Output()),
            image=image,
            stages=(),
            transitions=(),
            images_used=(),
            device="cpu",
            device_name="Slow and steady",
            dtype="float32",
            attention="sdpa",
            threads=1,
            versions=VERSIONS,
        )
        written = write_image(pixels, path, record, overwrite=request.output.overwrite)
        return replace(image, path=str(written))

    def close(self):
        self.closed = True

    def _poison(self):
        os._exit(9)

    def _lost(self):
        raise DeviceLost("an illegal memory access was encountered")

    def _refused(self):
        raise ImageRefused("broken.png is cut off in the middle")

    def _nowhere(self):
        raise NoDevice("there is no such card")

    def _bug(self):
        raise ValueError("nobody thought of this")


class Telling(Silent):
    """Prints a dot per image, so that a watcher knows when there is work to interrupt."""

    def settled(self, record, progress):
        sys.stdout.write(".\n")
        sys.stdout.flush()

    def notice(self, code, message):
        sys.stderr.write(f"{code}: {message}\n")


def serving(hold) -> list[str]:
    """Return the command line of a worker."""
    return [sys.executable, __file__, "serve", "--hold", str(hold)]


def workers_of(owner, devices, together=1) -> list[EngineWorker] | list[ProcessWorker]:
    """Return an engine in this process, or one process per device."""
    if not devices:
        return [EngineWorker(StandIn, together)]
    return [
        ProcessWorker(serving(owner.hold_of_worker(number)), dict(os.environ), batch_size=together)
        for number in range(devices)
    ]


def run(folder, tasks, *, devices=0, shard=None, options=None, listener=None, stream=None, together=1):
    """One run over so many tasks; how it ended."""
    with Owner.take(folder, shard) as owner, Manifest.open(folder, shard) as manifest:
        manifest.note("run", {"schema_version": 1})
        mine = stream or (one for one in (task(number, folder) for number in range(tasks)) if _has(shard, one))
        return Run(
            iter(mine),
            folder,
            manifest,
            workers_of(owner, devices, together),
            listener or Silent(),
            options=options or RunOptions(),
            stopping=lambda: False,
        ).run()


def _has(shard, one):
    return shard is None or shard.has(one.key)


def main(words=None):
    """Run the batch, or a worker of it."""
    parser = argparse.ArgumentParser()
    below = parser.add_subparsers(dest="what", required=True)
    running = below.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("tasks", type=int)
    running.add_argument("--devices", type=int, default=0)
    running.add_argument("--shard", type=parsed)
    running.add_argument("--retry-failed", action="store_true")
    running.add_argument("--together", type=int, default=1)
    below.add_parser("serve").add_argument("--hold", type=Path)
    asked = parser.parse_args(words)
    if asked.what == "serve":
        LockedFile.take(asked.hold)
        return serve(lambda: None, StandIn)
    try:
        ended = run(
            asked.folder,
            asked.tasks,
            devices=asked.devices,
            shard=asked.shard,
            options=RunOptions(retry_failed=asked.retry_failed),
            listener=Telling(),
            together=asked.together,
        )
    except MezzotintError as error:
        sys.stderr.write(f"{error.kind}: {error}\n")
        return error.exit_code
    return 3 if ended.failures else 0


if __name__ == "__main__":
    sys.exit(main())
