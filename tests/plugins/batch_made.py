"""Batch runs over a folder, in this process, with a recording listener."""

from batch_programs import StandIn, task

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.run.listener import Silent
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.run.run import Run, RunOptions
from mezzotint.batch.run.workers import EngineWorker


class Heard(Silent):
    """A listener that records everything."""

    def __init__(self):
        self.records, self.notices, self.figures, self.events = [], [], [], []

    def settled(self, record, progress):
        self.records.append(record)

    def progress(self, progress):
        self.figures.append(progress)

    def notice(self, code, message):
        self.notices.append((code, message))

    def event(self, task, event):
        self.events.append((task.output, event))


class Batch:
    """Runs over a folder, each with its own engine."""

    def __init__(self, folder):
        self.folder = folder
        self.heard = Heard()
        self.engines = []

    def run(self, stream, engine=None, workers=1, stopping=lambda: False, together=1, **options):
        """One run; `workers`: how many, or those themselves; `together`: images at a time."""
        self.heard, self.engines = Heard(), []
        if isinstance(workers, int):
            workers = self.workers(workers, engine, together)
        with Owner.take(self.folder, None), Manifest.open(self.folder) as manifest:
            one = Run(
                iter(stream),
                self.folder,
                manifest,
                workers,
                self.heard,
                options=RunOptions(**options),
                stopping=stopping,
            )
            return one.run()

    def workers(self, count, engine=None, together=1):
        """Return workers with engines in this process."""

        def make():
            self.engines.append(engine or StandIn())
            return self.engines[-1]

        return [EngineWorker(make, together) for _ in range(count)]

    def tasks(self, count, prompt=None):
        return [task(number, self.folder, prompt) for number in range(count)]

    def images(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.png"))

    def records(self):
        return {record.output: record for record in read_ledger(self.folder).records().values()}

    @property
    def made(self):
        return [request.seed for engine in self.engines for request in engine.requests]
