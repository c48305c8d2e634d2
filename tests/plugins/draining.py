"""The runner with the real store in a folder, and the real drain over an engine that the test controls."""

from drained_engine import DrainedEngine
from fake_clock import FakeClock

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


class PumpedClock(FakeClock):
    """Lets the engine do all pending work before and after each timer."""

    def __init__(self, pump):
        super().__init__()
        self._pump = pump

    def advance(self, seconds):
        self._pump()
        end = self._now + seconds
        while self._waits and self._waits[0][0] <= end:
            super().advance(max(0.0, self._waits[0][0] - self._now))
            self._pump()
        super().advance(end - self._now)


class House:
    """A runner, its dependencies and recorded signals; every access first lets the engine do its pending work."""

    def __init__(self, folder, inline, settings=None):
        self.folder, self.inline = folder, inline
        self._engine = DrainedEngine()
        self.clock = PumpedClock(self._engine.pump)
        self.settings = Stored(folder / "settings.json", settings or Settings(previews=False), inline)
        self.access = QueueAccess(inline, JobStore.open)
        self._runner = QueueRunner(self.access, self._engine, self.settings, self.clock)
        self._told, self._over, self._story, self._drained = [], [], [], []
        runner = self._runner
        runner.message.connect(self._told.append)
        runner.resolved.connect(self._over.append)
        runner.started.connect(lambda task: self._story.append(("started", task.id)))
        runner.saved.connect(lambda task, image: self._story.append(("saved", task.id, image.seed)))
        runner.ended.connect(
            lambda task, result, failure: self._story.append(("ended", task.id, failure and failure.kind))
        )
        runner.drained.connect(lambda made, failed: self._drained.append((made, failed)))

    def _pumped(name):
        def get(self):
            self._engine.pump()
            return getattr(self, name)

        return property(get)

    engine, runner = _pumped("_engine"), _pumped("_runner")
    told, over, story, drained = _pumped("_told"), _pumped("_over"), _pumped("_story"), _pumped("_drained")

    def open(self):
        self.access.open()
        return self

    def add(self, *prompts, **changes):
        requests = [self.request(prompt, **changes) for prompt in prompts]
        found = []
        self.access.change(lambda store: store.add(requests), found.append)
        self._engine.pump()
        return found[0]

    def request(self, prompt, **changes):
        values = {"prompt": prompt, "seed": 7, "output": Output(path=f"{self.folder}/out/")}
        return GenerateRequest(**values | changes)

    def look(self, read):
        found = []
        self._engine.pump()
        self.access.ask(read, found.append)
        return found[0]

    def states_of(self, entry):
        return [task.state for task in self.look(lambda store: store.entry(entry)).tasks]

    def image(self, seed, index=0):
        return GeneratedImage(
            path=str(self.folder / f"{seed}.png"), width=8, height=8, seed=seed, index=index, sha256="0"
        )

    def save(self, seed, index=0, images=1):
        self.engine.event(Saved(image=self.image(seed, index), images=images))

    def succeed(self, seed=7, count=1, tell=True):
        images = [self.image(seed + index, index) for index in range(count)]
        for index, image in enumerate(images):
            if tell:
                self.save(image.seed, index, count)
        self.engine.answer(result(images), method="generate")

    def asked(self):
        """The requests whose generation was started."""
        return [params for method, params in self.engine.made if method == "generate"]

    def close(self):
        left = []
        self.runner.shut_down(lambda: left.append(True))
        self._engine.pump()
        return left

    def end(self):
        """Clean up after the test."""
        self._engine.end()
        self._engine.now = "stopped"
        self.close()
        self.access.close()


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
