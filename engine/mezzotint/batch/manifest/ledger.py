"""Combined view of an output folder's manifests: the latest record of each task, and the state of the runs."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mezzotint.batch.manifest.record import FAILURES, Record, is_record, read_lines
from mezzotint.batch.manifest.shards import MOST_SHARDS, manifests_in, shard_of_name
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import StorageError
from mezzotint.trouble import shown, storage_error

_NAMES = tuple(one.name for one in fields(Record))
_TEXTS = ("input", "input_hash", "settings_hash", "kind", "error", "pixels_sha256", "time")
_LARGEST = 1 << 63
_OF_FILES = {
    "image_refused",
    "not_an_image",
    "link",
    "name",
    "no_mask",
    "not_a_file",
    "storage",
}  # reasons that concern a whole input file

Keep = Callable[[dict[str, Any]], Record]


@dataclass(slots=True, kw_only=True)
class Journal:
    """One manifest, read incrementally."""

    path: Path
    shard: Shard | None
    records: dict[str, Record] = field(default_factory=dict)  # the latest of each task, in the order they ended
    outputs: dict[str, str] = field(default_factory=dict)  # output to the key of its latest task
    no_tasks: dict[str, str] = field(default_factory=dict)  # input to the key of its latest skip or failure
    run: dict[str, Any] = field(default_factory=dict)  # the facts noted when its last run began
    total: int | None = None  # tasks of its last run, once counted
    is_ended: bool = False  # its last run completed all of its tasks
    damaged: int = 0  # unreadable lines
    end: int = 0  # bytes read so far
    unconfirmed: set[str] = field(default_factory=set)  # unreadable inputs not yet confirmed by its last run

    def read_on(self, keep: "Keep | None" = None) -> Iterator[None]:
        """Read new lines, yielding after each. `keep` converts a line to a record. Raises StorageError."""
        try:
            for line in read_lines(self.path, self.end):
                self._take(line.value, keep or _record)
                self.end = line.end
                yield
        except OSError as error:
            raise storage_error("read", self.path, error) from error

    def _take(self, line: dict[str, Any] | None, keep: "Keep") -> None:
        if line is None:
            self.damaged += 1
        elif is_record(line):
            self._settle(keep(line))
        elif isinstance(line.get("run"), dict):
            self.run, self.total, self.is_ended = line["run"], None, False
            self.unconfirmed = {key for key, record in self.records.items() if record.is_unreadable_input}
        elif isinstance(line.get("replaced"), str):
            self.records.pop(line["replaced"], None)  # another task was about to overwrite its image
        else:
            self._take_total(line)

    def _settle(self, record: Record) -> None:
        before = self.outputs.get(record.output)
        if record.status == "done" and before is not None and before != record.key:
            self.records.pop(before, None)  # its image had this name and was overwritten
        self.records.pop(record.key, None)
        self.records[record.key] = record
        self.unconfirmed.discard(record.key)
        if record.output:
            self.outputs[record.output] = record.key
        if record.input:
            self._look_at_input(record, record.input)

    def _look_at_input(self, record: Record, name: str) -> None:
        """Drop an outdated skip or failure of an input: it may have been fixed, and its image made."""
        is_of_input = record.is_unreadable_input or (record.status == "skipped" and record.kind in _OF_FILES)
        if is_of_input or record.status == "done":
            before = self.no_tasks.pop(name, None)
            if before is not None and before != record.key:
                self.records.pop(before, None)
        if is_of_input:
            self.no_tasks[name] = record.key

    def _take_total(self, line: dict[str, Any]) -> None:
        ended, counted = line.get("ended"), line.get("counted")
        if isinstance(ended, dict):
            self.is_ended = True
            for key in self.unconfirmed:  # they were fixed or removed
                self.records.pop(key, None)
            self.unconfirmed = set()
            self.total = _whole_number(ended.get("total")) if "total" in ended else self.total
        elif isinstance(counted, dict) and not self.is_ended:  # a short run ends before counting is done
            self.total = _whole_number(counted.get("total"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """All manifests of an output folder."""

    folder: Path
    journals: tuple[Journal, ...]

    def records(self) -> dict[str, Record]:
        """Return the latest record of each task; an image in any manifest outranks a failure in another."""
        found: dict[str, Record] = {}
        for journal in self.journals:
            for key, record in journal.records.items():
                if key not in found or (found[key].status != "done" and record.status == "done"):
                    found[key] = record
        made = {record.output: record for record in found.values() if record.status == "done"}
        return {
            key: record
            for key, record in found.items()
            if record.status not in FAILURES or made.get(record.output) is None  # superseded
        }

    def shards_without_manifest(self) -> list[Shard]:
        """Return the shards of split jobs that have no manifest."""
        there = {journal.shard for journal in self.journals if journal.shard is not None}
        counts = sorted({shard.count for shard in there if shard.count <= MOST_SHARDS})
        every = (Shard(index=index, count=count) for count in counts for index in range(count))
        return [shard for shard in every if shard not in there]


def read_ledger(folder: Path) -> Ledger:
    """Read the manifests of a folder. Raises StorageError if there is none, or one cannot be read."""
    journals = tuple(map(journal_of, manifest_paths(folder)))
    for journal in journals:
        for _ in journal.read_on():
            pass
    return Ledger(folder=folder, journals=journals)


def manifest_paths(folder: Path) -> list[Path]:
    """Return the paths of a folder's manifests. Raises StorageError if there is none."""
    paths = manifests_in(folder)
    if not paths:
        what = "has no manifest of a batch" if folder.is_dir() else "is not a folder"
        raise StorageError(f"{shown(folder)} {what}: give the output folder of a batch")
    return paths


def journal_of(path: Path) -> Journal:
    """Return the journal of a manifest, with nothing read yet."""
    return Journal(path=path, shard=shard_of_name(path.name))


def short_record(line: dict[str, Any], longest: int) -> Record:
    """Return a record without engine facts and with texts cut, since there may be hundreds of thousands."""
    kind = line.get("kind")
    return Record(
        key=line["key"],
        status=line["status"],
        output=line["output"],
        input=_short(line.get("input"), longest),
        seed=_whole_number(line.get("seed")),
        kind=sys.intern(kind[:100]) if isinstance(kind, str) else None,
        error=_short(line.get("error"), longest),
        seconds=_seconds(line.get("seconds")),
        attempts=_whole_number(line.get("attempts")) or 0,
        engine=_NO_FACTS,
    )


_NO_FACTS: dict[str, str] = {}


def _short(value: object, longest: int) -> str | None:
    return value[:longest] if isinstance(value, str) else None


def _record(line: dict[str, Any]) -> Record:
    """Drop values of the wrong type: the line may come from any program."""
    known = {name: line[name] for name in _NAMES if name in line}
    known |= {name: None for name in _TEXTS if not isinstance(known.get(name), str)}
    known["settings_hash"], known["time"] = known["settings_hash"] or "", known["time"] or ""
    known["seed"], known["attempts"] = _whole_number(known.get("seed")), _whole_number(known.get("attempts")) or 0
    known["seconds"] = _seconds(known.get("seconds"))
    if not isinstance(known.get("engine"), dict):
        known.pop("engine", None)
    return Record(**known)


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST else None


def _seconds(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST
    return float(value) if is_number and math.isfinite(value) else None  # type: ignore[arg-type]


def failures_of(records: Mapping[str, Record]) -> Iterator[Record]:
    """Return the records of tasks that failed or were set aside."""
    return (record for record in records.values() if record.status in FAILURES)
