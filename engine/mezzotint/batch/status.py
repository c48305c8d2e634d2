"""How the batch of an output folder stands, from its manifests and its files."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mezzotint.batch.found import is_taken
from mezzotint.batch.ledger import Ledger, failures_of
from mezzotint.batch.owner import running
from mezzotint.batch.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """The figures of a folder."""

    done: int
    failed: int
    set_aside: int
    skipped: int
    gone: int  # pictures that were made, and are not there any more
    kinds: dict[str, int]  # of failures
    is_ended: bool  # the last run of every manifest went through all of its tasks
    shards: tuple[str, ...]  # that have a manifest, as 0/4
    shards_missing: tuple[str, ...]
    damaged_lines: int
    running: tuple[str, ...]  # who works on it at the moment
    seconds: float  # of all pictures together


def status_of(ledger: Ledger) -> BatchStatus:
    """The figures now."""
    records = ledger.records()
    counts = Counter(record.status for record in records.values())
    return BatchStatus(
        done=counts["done"],
        failed=counts["failed"],
        set_aside=counts["set_aside"],
        skipped=counts["skipped"],
        gone=sum(1 for record in records.values() if is_gone(record, ledger.folder)),
        kinds=dict(sorted(Counter(record.kind or "failed" for record in failures_of(records)).items())),
        is_ended=all(journal.is_ended for journal in ledger.journals),
        shards=tuple(f"{one.shard.index}/{one.shard.count}" for one in ledger.journals if one.shard is not None),
        shards_missing=tuple(f"{shard.index}/{shard.count}" for shard in ledger.shards_without_manifest()),
        damaged_lines=sum(journal.damaged for journal in ledger.journals),
        running=tuple(str(held) for held in running(ledger.folder)),
        seconds=round(sum(record.seconds or 0.0 for record in records.values()), 3),
    )


def is_gone(record: Record, folder: Path) -> bool:
    """Whether a picture that was made is not there; the next run makes it again."""
    return record.status == "done" and not is_taken(folder / record.output)


def lines_of(status: BatchStatus) -> list[str]:
    """The figures, for a person."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in status.kinds.items())
    failed = status.failed + status.set_aside
    lines = [f"made         {status.done}", f"failed       {failed}{f' ({kinds})' if kinds else ''}"]
    lines += [f"passed over  {status.skipped}"] if status.skipped else []
    lines += [f"gone         {status.gone}, which the next run makes again"] if status.gone else []
    lines += [f"shards       {', '.join(status.shards)}"] if status.shards else []
    lines += [f"missing      shards {', '.join(status.shards_missing)}"] if status.shards_missing else []
    lines += [f"damaged      {status.damaged_lines} lines of the manifest"] if status.damaged_lines else []
    lines += [f"at work      {one}" for one in status.running]
    if not status.running and not status.is_ended:
        lines.append("the last run did not come to its end: run the same again to go on")
    return lines
