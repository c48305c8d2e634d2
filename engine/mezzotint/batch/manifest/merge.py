"""Merge the manifests of all shards: the same bytes however the job was split, with a list of the problems found.

Leaves out what differs from run to run: when an image was made, how long it took, on what. The manifests stay.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.batch.manifest.ledger import Ledger
from mezzotint.batch.manifest.record import FAILURES, Record
from mezzotint.batch.manifest.shards import MERGED
from mezzotint.batch.run.found import is_taken
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ImageRefused
from mezzotint.images.reading import read_image
from mezzotint.images.writing import pixels_sha256
from mezzotint.jobs.found_images import record_in

_KEPT = (
    "key", "status", "output", "input", "input_hash", "settings_hash", "seed", "kind", "error", "pixels_sha256",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of a merge and the problems found; each problem is a readable line."""

    path: str
    tasks: int
    failures: int
    missing: tuple[str, ...]  # shards without a manifest or unfinished, missing images
    duplicates: tuple[str, ...]  # tasks made more than once
    conflicts: tuple[str, ...]  # tasks with different images, images claimed by two tasks, changed pixels

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing or contradictory."""
        return not (self.missing or self.conflicts)


def merge(ledger: Ledger, *, check_pixels: bool = True) -> Merged:
    """Write the merged manifest beside the others. Raises StorageError if it cannot be written."""
    records = ledger.records()
    duplicates, conflicts = _compared(ledger)
    shared = sorted(_shared_outputs(records))
    broken = sorted(_broken(records, ledger.folder, check_pixels))
    path = ledger.folder / MERGED
    atomic_write(path, canonical(records), overwrite=True)
    return Merged(
        path=str(path),
        tasks=len(records),
        failures=sum(record.status in FAILURES for record in records.values()),
        missing=(*_missing_shards(ledger), *sorted(_missing_images(records, ledger.folder))),
        duplicates=tuple(sorted(duplicates)),
        conflicts=(*sorted(conflicts), *shared, *broken),
    )


def canonical(records: Mapping[str, Record]) -> bytes:
    """Return a line for each task, sorted by output."""
    ordered = sorted(records.values(), key=lambda record: (record.output, record.input or "", record.key))
    return b"".join(_line(record) for record in ordered)


def _line(record: Record) -> bytes:
    values = {name: getattr(record, name) for name in _KEPT}
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def _compared(ledger: Ledger) -> tuple[list[str], list[str]]:
    """Return duplicates and conflicts among tasks that more than one manifest records as done."""
    done: defaultdict[str, list[Record]] = defaultdict(list)
    for journal in ledger.journals:
        for key, record in journal.records.items():
            if record.status == "done":
                done[key].append(record)
    twice = [records for records in done.values() if len(records) > 1]
    duplicates, conflicts = [], []
    for records in twice:
        names = ", ".join(sorted({plain(record.output, 200) for record in records}))
        if len({record.pixels_sha256 for record in records}) > 1:
            conflicts.append(f"{names}: generated {len(records)} times, with different pixels")
        else:
            duplicates.append(f"{names}: generated {len(records)} times, with the same pixels")
    return duplicates, conflicts


def _shared_outputs(records: Mapping[str, Record]) -> Iterator[str]:
    owners: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records.values():
        if record.status == "done":
            owners[record.output].append(record)
    for output, several in owners.items():
        if len({record.pixels_sha256 for record in several}) > 1:
            yield f"{plain(output, 200)}: it is the image of {len(several)} tasks"


def _missing_shards(ledger: Ledger) -> Iterator[str]:
    for shard in ledger.shards_without_manifest():
        yield f"shard {shard.index}/{shard.count}: it has no manifest"
    for journal in ledger.journals:
        if not journal.is_ended and journal.path.name != MERGED:
            yield f"{journal.path.name}: its last run did not finish"


def _missing_images(records: Mapping[str, Record], folder: Path) -> Iterator[str]:
    for record in records.values():
        if record.status == "done" and not is_taken(folder / record.output):
            yield f"{plain(record.output, 200)}: the image is missing"


def _broken(records: Mapping[str, Record], folder: Path, check_pixels: bool) -> Iterator[str]:
    for record in records.values():
        path = folder / record.output
        if record.status != "done" or not check_pixels or not is_taken(path):
            continue
        trouble = _trouble(path, record)
        if trouble is not None:
            yield f"{plain(record.output, 200)}: {trouble}"


def _trouble(path: Path, record: Record) -> str | None:
    """Compare the pixels of a PNG, which is lossless; of other formats, the hash in the metadata."""
    try:
        image = read_image(path)
    except ImageRefused as error:
        return f"it cannot be read: {error}"
    if path.suffix.lower() == ".png":
        digest: str | None = pixels_sha256(image)
    else:
        made = record_in(str(path))
        digest = None if made is None else made[1].sha256
    return None if digest == record.pixels_sha256 else "its pixels differ from those that were generated"
