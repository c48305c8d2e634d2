"""A queue in a temporary folder with a runner controlled by the test."""

from dataclasses import dataclass

from fake_service import FakeService, InlineBackground
from PySide6.QtCore import QObject, Signal

from mezzotint.jobs.store import JobStore, PhaseSeconds
from mezzotint.protocol import Cascade, GeneratedImage, GenerateRequest, ModelRef, Output, Sampling, Stage
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.parts import Queue
from mezzotint_app.viewmodel.thumbnails import Thumbnails

OWNER = "the test"


class FakeRunner(QObject):
    started = Signal(object)
    progressed = Signal(object, object)
    saved = Signal(object, object)
    ended = Signal(object, object, object)
    changed = Signal()

    def __init__(self):
        super().__init__()
        self.state = "idle"
        self.running = None
        self.who = self.trouble = ""
        self.lent = False
        self.done = []

    def task(self):
        return self.running

    def held_by(self):
        return self.who

    def is_lent(self):
        return self.lent

    def problem(self):
        return self.trouble

    def pause(self):
        self.done.append("pause")

    def resume(self):
        self.done.append("resume")

    def pause_after_current(self):
        self.done.append("pause_after_current")

    def begin(self, task):
        self.running, self.state = task, "working"
        self.started.emit(task)
        self.changed.emit()

    def end(self, result=None, failure=None):
        task, self.running, self.state = self.running, None, "idle"
        self.ended.emit(task, result, failure)
        self.changed.emit()


@dataclass
class Made:
    queue: Queue
    store: JobStore
    runner: FakeRunner
    access: QueueAccess
    inline: InlineBackground
    librarian: FakeService
    thumbnails: Thumbnails

    def change(self, work):
        """Change the queue as another part of the window would."""
        found = []
        self.access.change(work, found.append)
        return found[0]

    def ids(self):
        return [row.id for row in self.store.rows(limit=100_000)]


def queue_in(folder, **options):
    """Open an empty queue."""
    inline, librarian, runner = InlineBackground(), FakeService(), FakeRunner()
    kept = []

    def opened():
        found = JobStore.open(folder / "queue.sqlite", **options)
        kept.append(found.store)
        return found

    access = QueueAccess(inline, opened)
    thumbnails = Thumbnails(librarian, inline, decode=lambda path: None)
    queue = Queue(access, runner, thumbnails, inline)
    access.open()
    queue.watch.stop()
    return Made(queue, kept[0], runner, access, inline, librarian, thumbnails)


def request(prompt="a hare", count=1, *, model="m", steps=10, seed=5) -> GenerateRequest:
    stage = Stage(width=64, height=64, model=ModelRef(id=model), sampling=Sampling(steps=steps))
    return GenerateRequest(
        prompt=prompt, count=count, seed=seed, cascade=Cascade(stages=(stage,)), output=Output(path="/images/")
    )


def image(task, index=0) -> GeneratedImage:
    seed = task.request.seed + index
    path = f"/images/{task.id}-{index}.png"
    return GeneratedImage(path=path, width=64, height=64, seed=seed, index=index, sha256="0" * 64)


PHASES = PhaseSeconds(load=8, encode=1, step=0.5, decode=2, save=1, steps=10)


def finish(store):
    """Claim the next task, save all of its images, and finish it."""
    task = store.claim(OWNER)
    for index in range(task.request.count):
        store.saved(task.id, image(task, index))
    store.finish(task.id, PHASES)
    return task
