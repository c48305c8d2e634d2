"""All that the manifests of an output folder say, put together: the last word on each task, and how the runs went."""

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
}  # of a whole file

Keep = Callable[[dict[str, Any]], Record]


@dataclass(slots=True, kw_only=True)
class Journal:
    """One manifest."""

    path: Path
    shard: Shard | None
    records: dict[str, Record] = field(default_factory=dict)  # the last one of each task, in the order they ended
    outputs: dict[str, str] = field(default_factory=dict)  # the task whose image each was last
    no_tasks: dict[str, str] = field(default_factory=dict)  # by input: it was skipped or unreadable
    run: dict[str, Any] = field(default_factory=dict)  # how its last run began
    total: int | None = None  # tasks of its last run, where it has counted them
    is_ended: bool = False  # its last run went through all of its tasks
    damaged: int = 0  # lines that cannot be read
    end: int = 0  # bytes that were read
    unconfirmed: set[str] = field(default_factory=set)  # inputs that its last run has not yet found unreadable again

    def read_on(self, keep: "Keep | None" = None) -> Iterator[None]:
        """Take the lines that are new, one at each step. `keep`: the record of a line. StorageError."""
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
            self.records.pop(line["replaced"], None)  # another's image was about to take its place
        else:
            self._take_total(line)

    def _settle(self, record: Record) -> None:
        before = self.outputs.get(record.output)
        if record.status == "done" and before is not None and before != record.key:
            self.records.pop(before, None)  # it had this name, and was replaced
        self.records.pop(record.key, None)
        self.records[record.key] = record
        self.unconfirmed.discard(record.key)
        if record.output:
            self.outputs[record.output] = record.key
        if record.input:
            self._look_at_input(record, record.input)

    def _look_at_input(self, record: Record, name: str) -> None:
        """The last word on an input that was skipped or unreadable: it may have been mended, and made."""
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
            for key in self.unconfirmed:  # they were mended, or taken away
                self.records.pop(key, None)
            self.unconfirmed = set()
            self.total = _whole_number(ended.get("total")) if "total" in ended else self.total
        elif isinstance(counted, dict) and not self.is_ended:  # a short run ends before all are counted
            self.total = _whole_number(counted.get("total"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """An output folder."""

    folder: Path
    journals: tuple[Journal, ...]

    def records(self) -> dict[str, Record]:
        """The last word on each task: an image counts for more than a failure, wherever that was."""
        found: dict[str, Record] = {}
        for journal in self.journals:
            for key, record in journal.records.items():
                if key not in found or (found[key].status != "done" and record.status == "done"):
                    found[key] = record
        made = {record.output: record for record in found.values() if record.status == "done"}
        return {
            key: record
            for key, record in found.items()
            if record.status not in FAILURES or made.get(record.output) is None  # what was to go there has changed
        }

    def shards_without_manifest(self) -> list[Shard]:
        """Of jobs in parts, those parts of which there is nothing."""
        there = {journal.shard for journal in self.journals if journal.shard is not None}
        counts = sorted({shard.count for shard in there if shard.count <= MOST_SHARDS})
        every = (Shard(index=index, count=count) for count in counts for index in range(count))
        return [shard for shard in every if shard not in there]


def read_ledger(folder: Path) -> Ledger:
    """The manifests of a folder. StorageError when there is none, or one cannot be read."""
    journals = tuple(map(journal_of, manifest_paths(folder)))
    for journal in journals:
        for _ in journal.read_on():
            pass
    return Ledger(folder=folder, journals=journals)


def manifest_paths(folder: Path) -> list[Path]:
    """The manifests of a folder. StorageError when there is none."""
    paths = manifests_in(folder)
    if not paths:
        what = "holds no manifest of a batch" if folder.is_dir() else "is no folder"
        raise StorageError(f"{shown(folder)} {what}: give the output folder of a batch")
    return paths


def journal_of(path: Path) -> Journal:
    """A manifest of which nothing is read yet."""
    return Journal(path=path, shard=shard_of_name(path.name))


def short_record(line: dict[str, Any], longest: int) -> Record:
    """Who and what, and no facts: there may be hundreds of thousands. Texts are cut."""
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
    """What has another type than it should is left out: the line may be of anyone."""
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
    """What could not be made."""
    return (record for record in records.values() if record.status in FAILURES)
