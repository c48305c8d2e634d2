"""The history of each task in a folder's manifests, compact enough for hundreds of thousands of tasks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from mezzotint.batch.manifest.record import FAILURES, SCHEMA_VERSION, Record, Status, is_record, read_lines
from mezzotint.batch.manifest.shards import manifests_in
from mezzotint.errors import StorageError
from mezzotint.trouble import shown, storage_error

UnderWay = Literal["alone", "together"]

_BEGINS: dict[str, UnderWay] = {"begun": "alone", "begun_together": "together"}
_DIED = {"alone": "died", "together": "died_together"}
_MARKS = (*_BEGINS, *_DIED.values(), "released")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHistory:
    """What the manifests say of a task; the defaults mean that nothing is known of it."""

    status: Status | None = None
    output: str = ""
    error_kind: str | None = None
    attempts: int = 0
    deaths: int = 0  # of processes while making it alone, since its last record
    is_suspect: bool = False  # a process died while making it in a batch, of which any task may be to blame
    under_way: UnderWay | None = None  # begun and not ended, by a process that runs the engine itself


NO_HISTORY = TaskHistory()


class TaskHistories:
    """The histories of all tasks that appear in the manifests."""

    def __init__(self) -> None:
        self._tasks: dict[str, TaskHistory] = {}
        self._outputs: dict[str, str] = {}  # output to key, of images that exist or failed
        self._failed: set[str] = set()
        self._unreadable: dict[str, bool] = {}  # inputs of the latest manifest; whether its last run confirmed it
        self.damaged = 0  # lines that could not be read

    @classmethod
    def read(cls, folder: Path, own: Path | None = None) -> "TaskHistories":
        """Read all manifests of an output folder; those of shards may be growing. `own`: the one that is resumed."""
        histories = cls()
        for path in sorted(manifests_in(folder), key=lambda path: path == own):
            histories.read_file(path)
        histories._end_all()
        return histories

    def read_file(self, path: Path) -> None:
        """Read one manifest."""
        self._unreadable = {}
        try:
            for line in read_lines(path):
                if line.value is None:
                    self.damaged += 1
                else:
                    self._take(line.value, path)
        except OSError as error:
            raise storage_error("read", path, error) from error

    def _take(self, line: dict[str, Any], path: Path) -> None:
        if is_record(line):
            self._settle(line["key"], line["status"], line["output"], line.get("attempts"), line.get("kind"))
            return
        for what, value in line.items():
            if isinstance(value, str):
                self.mark(what, value)
            elif isinstance(value, dict):
                _check_version(value.get("schema_version"), path)
                self.note(what)

    def _end_all(self) -> None:
        """Assume that tasks still under way when their process ended caused its death."""
        for key, known in list(self._tasks.items()):
            if known.under_way is not None:
                self.mark(_DIED[known.under_way], key)

    def get(self, key: str) -> TaskHistory:
        """Return the history of a task."""
        return self._tasks.get(key, NO_HISTORY)

    def add(self, record: Record) -> None:
        """Apply a new record."""
        self._settle(record.key, record.status, record.output, record.attempts, record.kind)

    def note(self, what: str) -> None:
        """Handle `run` and `ended`: inputs that a complete run did not find unreadable again are no longer failures."""
        if what == "run":
            self._unreadable = dict.fromkeys(self._unreadable, False)
        elif what == "ended":
            self._failed -= {key for key, is_confirmed in self._unreadable.items() if not is_confirmed}
            self._unreadable = {key: True for key, is_confirmed in self._unreadable.items() if is_confirmed}

    def mark(self, what: str, key: str) -> None:
        """Apply a mark such as `begun` or `replaced`; lines of other kinds are ignored."""
        if what == "replaced":
            self._tasks.pop(key, None)  # its image is gone, or will be: made again if requested
        if what not in _MARKS:
            return
        before = self.get(key)
        ended = what  # a second begin without an end means that the earlier run died silently
        if what in _BEGINS and before.under_way is not None:
            ended = _DIED[before.under_way]
        self._tasks[key] = replace(
            before,
            deaths=before.deaths + (ended == "died"),
            is_suspect=before.is_suspect or ended == "died_together",
            under_way=_BEGINS.get(what),
        )

    def _settle(self, key: str, status: Status, output: str, attempts: object, error_kind: object) -> None:
        self._tasks[key] = TaskHistory(
            status=status,
            output=output,
            error_kind=error_kind if isinstance(error_kind, str) else None,
            attempts=attempts if isinstance(attempts, int) else 0,
        )
        self._failed.discard(key)
        if status in FAILURES:
            self._failed.add(key)
        if status == "failed" and not output:
            self._unreadable[key] = True
        if output and status != "skipped":
            before = self._outputs.get(output)
            if before is not None and before != key:
                self._replace(before, status)
            self._outputs[output] = key

    def _replace(self, before: str, status: Status) -> None:
        """Another task now writes the output of `before`, because the job or its input has changed."""
        self._failed.discard(before)
        if status == "done":
            self._tasks.pop(before, None)  # its image, if any, is gone: made again if requested

    def key_of_output(self, output: str) -> str | None:
        """Return the key of the task whose image is `output`, or None."""
        key = self._outputs.get(output)
        return key if key is not None and self.get(key).status == "done" else None

    def failures(self) -> int:
        """How many tasks failed or were set aside and were not superseded."""
        return len(self._failed)

    def __iter__(self) -> Iterator[tuple[str, TaskHistory]]:
        return iter(self._tasks.items())


def _check_version(version: object, path: Path) -> None:
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StorageError(
            f"{shown(path)} was written by a newer Mezzotint (version {version} of the manifest, this one knows "
            f"{SCHEMA_VERSION}): update Mezzotint, or use another output folder"
        )
