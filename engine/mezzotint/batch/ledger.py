"""All that the manifests of an output folder say, put together: the last word on each task, and how the runs went."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mezzotint.batch.record import FAILURES, Record, is_record, read_lines
from mezzotint.batch.shards import manifests_in, shard_of_name
from mezzotint.batch.tasks import Shard
from mezzotint.errors import StorageError
from mezzotint.trouble import shown, storage_error

_NAMES = tuple(one.name for one in fields(Record))
_TEXTS = ("input", "input_hash", "settings_hash", "kind", "error", "pixels_sha256", "time")


@dataclass(slots=True, kw_only=True)
class Journal:
    """One manifest."""

    path: Path
    shard: Shard | None
    records: dict[str, Record] = field(default_factory=dict)  # the last one of each task
    outputs: dict[str, str] = field(default_factory=dict)  # the task whose picture each was last
    is_ended: bool = False  # its last run went through all of its tasks
    damaged: int = 0  # lines that cannot be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """An output folder."""

    folder: Path
    journals: tuple[Journal, ...]

    def records(self) -> dict[str, Record]:
        """The last word on each task: a picture counts for more than a failure, wherever that was."""
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
        counts = sorted({shard.count for shard in there})
        every = (Shard(index=index, count=count) for count in counts for index in range(count))
        return [shard for shard in every if shard not in there]


def read_ledger(folder: Path) -> Ledger:
    """The manifests of a folder. StorageError when there is none, or one cannot be read."""
    paths = manifests_in(folder)
    if not paths:
        what = "holds no manifest of a batch" if folder.is_dir() else "is no folder"
        raise StorageError(f"{shown(folder)} {what}: give the output folder of a batch")
    return Ledger(folder=folder, journals=tuple(map(_journal, paths)))


def _journal(path: Path) -> Journal:
    journal = Journal(path=path, shard=shard_of_name(path.name))
    try:
        for line in read_lines(path):
            _take(journal, line.value)
    except OSError as error:
        raise storage_error("read", path, error) from error
    return journal


def _take(journal: Journal, line: dict[str, Any] | None) -> None:
    if line is None:
        journal.damaged += 1
    elif is_record(line):
        record = _record(line)
        before = journal.outputs.get(record.output)
        if record.status == "done" and before is not None and before != record.key:
            journal.records.pop(before, None)  # it had this name, and was replaced
        journal.records[record.key] = record
        if record.output:
            journal.outputs[record.output] = record.key
    elif "run" in line or "ended" in line:
        journal.is_ended = "ended" in line


def _record(line: dict[str, Any]) -> Record:
    """What has another type than it should is left out: the line may be of anyone."""
    known = {name: line[name] for name in _NAMES if name in line}
    known |= {name: None for name in _TEXTS if not isinstance(known.get(name), str)}
    known["settings_hash"], known["time"] = known["settings_hash"] or "", known["time"] or ""
    for name, kinds in (("seed", int), ("seconds", int | float), ("attempts", int), ("engine", dict)):
        if not isinstance(known.get(name), kinds):
            known.pop(name, None)
    return Record(**known)


def failures_of(records: dict[str, Record]) -> Iterator[Record]:
    """What could not be made."""
    return (record for record in records.values() if record.status in FAILURES)
