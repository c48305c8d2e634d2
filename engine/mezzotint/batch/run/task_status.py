"""The status of a task before it is made or retried, from the manifest and the existing images."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import FAILURES, Record
from mezzotint.batch.run.claims import Claims
from mezzotint.batch.run.found import found_image, is_taken
from mezzotint.batch.run.records import done_record, passed_over_record, relative, set_aside_record
from mezzotint.batch.run.run_options import RunOptions
from mezzotint.batch.tasks.outputs import as_template
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.errors import StorageError
from mezzotint.protocol import Output

SettledBefore = Literal["already", "left_failed"]

DEATHS = 2  # of processes while making a task alone, after which it is set aside


class TaskStatus:
    """The status of the tasks of one output folder."""

    def __init__(self, folder: Path, manifest: Manifest, options: RunOptions) -> None:
        self._folder, self._manifest, self._options = folder, manifest, options
        self._claims = Claims(folder) if options.existing == "overwrite" else None

    def settled(self, task: BatchTask) -> Record | SettledBefore | None:
        """Return why a task needs no work: a record to write, or how it was settled before. None: it is to be made."""
        history = self._manifest.history(task.key)
        if history.status == "done" and is_taken(self._folder / history.output) and self._has(history.output, task):
            return "already"
        if history.status in FAILURES and not self._options.retry_failed and history.error_kind != StorageError.kind:
            return "left_failed"
        return (
            self.found(task)
            or self._passed_over(task)
            or (None if self._options.retry_failed else self.set_aside_if_poisonous(task))
        )

    def found(self, task: BatchTask) -> Record | None:
        """Return a record if the task's image exists and only its manifest entry is missing."""
        image = found_image(task, self._folder, lambda path: self._is_anothers(task, path))
        if image is None or not self._has(relative(Path(image.path), self._folder), task):
            return None
        return done_record(task, image, self._folder, attempts=self.attempts(task), seconds=None, facts={})

    def with_output(self, task: BatchTask) -> BatchTask:
        """Return the task with its final output path. Existing files may be overwritten, but none of this run's."""
        if self._claims is None:
            return _written_to(task, replace(task.request.output, overwrite=False))
        if self._claims.claim(task.output, task):
            self._manifest.replace(task.output, task.key)
            return _written_to(task, replace(task.request.output, overwrite=True))
        name = self._claims.claim_beside(task.output, task)
        output = replace(task.request.output, path=as_template(self._folder / name), overwrite=False)
        return replace(_written_to(task, output), output=name)

    def _has(self, output: str, task: BatchTask) -> bool:
        """Whether a file belongs to the task in this run: another task may be about to overwrite it."""
        return self._claims is None or self._claims.claim(output, task)

    def _is_anothers(self, task: BatchTask, path: Path) -> bool:
        return self._manifest.key_of_output(relative(path, self._folder)) not in (None, task.key)

    def _passed_over(self, task: BatchTask) -> Record | SettledBefore | None:
        if self._options.existing != "skip" or not is_taken(self._folder / task.output):
            return None
        return "already" if self._manifest.history(task.key).status == "skipped" else passed_over_record(task)

    def set_aside_if_poisonous(self, task: BatchTask, why: str = "") -> Record | None:
        """Return a set-aside record if the task has killed too many processes. `why`: how the last one ended."""
        deaths = self._manifest.history(task.key).deaths
        if deaths < DEATHS:
            return None
        words = f"{deaths} processes ended while generating it" + (f", the last: {why}" if why else "")
        return set_aside_record(task, words, attempts=self.attempts(task) - 1)

    def is_suspect(self, task: BatchTask) -> bool:
        """Whether a process died while making it, maybe in a batch: it must run alone now."""
        history = self._manifest.history(task.key)
        return history.is_suspect or history.deaths > 0

    def attempts(self, task: BatchTask) -> int:
        """Return the number of the current attempt, or of the next one."""
        history = self._manifest.history(task.key)
        return history.attempts + history.deaths + history.is_suspect + 1


def _written_to(task: BatchTask, output: Output) -> BatchTask:
    return replace(task, request=replace(task.request, output=output))
