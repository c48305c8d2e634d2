"""The runner with the real store in a folder, and an engine that does what the test says."""

from fake_clock import FakeClock
from fake_supervised import FakeSupervised

from mezzotint.jobs.store import JobStore
from mezzotint.protocol import (
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    MemoryReport,
    Output,
    Saved,
    Timings,
)
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.runner import QueueRunner


class House:
    """A runner and all that it needs, and what it told."""

    def __init__(self, folder, inline, settings=None):
        self.folder, self.inline = folder, inline
        self.clock, self.engine = FakeClock(), FakeSupervised()
        self.settings = Stored(folder / "settings.json", settings or Settings(previews=False), inline)
        self.access = QueueAccess(inline, JobStore.open)
        self.runner = QueueRunner(self.access, self.engine, self.settings, self.clock)
        self.told, self.over, self.story, self.drained, self.states = [], [], [], [], []
        runner = self.runner
        runner.told.connect(self.told.append)
        runner.over.connect(self.over.append)
        runner.started.connect(lambda task: self.story.append(("started", task.id)))
        runner.saved.connect(lambda task, image: self.story.append(("saved", task.id, image.seed)))
        runner.ended.connect(
            lambda task, result, failure: self.story.append(("ended", task.id, failure and failure.kind))
        )
        runner.drained.connect(lambda made, failed: self.drained.append((made, failed)))
        runner.changed.connect(lambda: self.states.append(runner.state))

    def open(self):
        self.access.open()
        return self

    def add(self, *prompts, **changes):
        requests = [self.request(prompt, **changes) for prompt in prompts]
        found = []
        self.access.change(lambda store: store.add(requests), found.append)
        return found[0]

    def request(self, prompt, **changes):
        values = {"prompt": prompt, "seed": 7, "output": Output(path=f"{self.folder}/out/")}
        return GenerateRequest(**values | changes)

    def look(self, read):
        found = []
        self.access.ask(read, found.append)
        return found[0]

    def states_of(self, entry):
        return [task.state for task in self.look(lambda store: store.entry(entry)).tasks]

    def image(self, seed, index=0):
        return GeneratedImage(
            path=str(self.folder / f"{seed}.png"), width=8, height=8, seed=seed, index=index, sha256="0"
        )

    def save(self, seed, index=0, images=1, method="generate"):
        self.engine.event(Saved(image=self.image(seed, index), images=images), method=method)

    def succeed(self, seed=7, count=1, tell=True):
        images = [self.image(seed + index, index) for index in range(count)]
        for index, image in enumerate(images):
            if tell:
                self.save(image.seed, index, count)
        self.engine.answer(result(images), method="generate")

    def asked(self):
        return [one.params for one in self.engine.asked if one.method == "generate"]

    def close(self):
        left = []
        self.runner.let_go(lambda: left.append(True))
        return left


def result(images, **changes):
    values = {
        "schema_version": 1,
        "images": tuple(images),
        "seed": 7,
        "stages": (),
        "transitions": (),
        "images_used": (),
        "strength": None,
        "device": "cpu",
        "device_name": "x",
        "dtype": "float32",
        "attention": "sdpa",
        "threads": 1,
        "versions": {},
        "timings": Timings(load=1, encode=1, denoise=(4.0,), decode=1, save=1, total=8),
        "memory": MemoryReport(peak_ram_bytes=1, peak_vram_bytes=None),
        "notices": (),
    }
    return GenerateResult(**values | changes)
