"""The status of the batch in an output folder, from its manifests and files."""

import math
import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mezzotint.batch.manifest.ledger import Journal, Ledger, failures_of
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.run.owner import running
from mezzotint.batch_protocol import BatchOwner, BatchRun, BatchStatus
from mezzotint.jobs.lease import Held

_MOST_KINDS = 50
_LONGEST_KIND = 60  # characters
_MOST_SHARDS = 1000  # that are listed
_LONGEST_TITLE = 200


def status_of(ledger: Ledger, *, look_for_files: bool = True) -> BatchStatus:
    """Return the current status of an output folder."""
    records = ledger.records()
    return figures_of(ledger, records, sum_gone(records, ledger.folder) if look_for_files else None)


def figures_of(ledger: Ledger, records: Mapping[str, Record], gone: int | None) -> BatchStatus:
    """Return the status, given the latest record of each task and the number of missing images."""
    counts = Counter(record.status for record in records.values())
    kinds = Counter((record.kind or "failed")[:_LONGEST_KIND] for record in failures_of(records))
    last = max(ledger.journals, key=_begun, default=None)
    return BatchStatus(
        title="" if last is None else _text(last.run.get("title"))[:_LONGEST_TITLE],
        done=counts["done"],
        failed=counts["failed"],
        set_aside=counts["set_aside"],
        skipped=counts["skipped"],
        gone=gone,
        total=_total(ledger),
        kinds=dict(sorted(kinds.most_common(_MOST_KINDS))),
        is_ended=all(journal.is_ended for journal in ledger.journals),
        last_run=None if last is None or not last.run else _run_of(last),
        running=tuple(map(_owner_of, running(ledger.folder))),
        shards=tuple(filter(None, map(_shard_of, ledger.journals)))[:_MOST_SHARDS],
        shards_missing=tuple(f"{one.index}/{one.count}" for one in ledger.shards_without_manifest()[:_MOST_SHARDS]),
        damaged_lines=sum(journal.damaged for journal in ledger.journals),
        seconds=round(math.fsum(record.seconds or 0.0 for record in records.values()), 3),
    )


def sum_gone(records: Mapping[str, Record], folder: Path) -> int:
    """How many finished images no longer exist."""
    return sum(1 for record in records.values() if is_gone(record, folder))


def is_gone(record: Record, folder: Path) -> bool:
    """Whether a finished image no longer exists; the next run makes it again."""
    return record.status == "done" and not os.path.lexists(f"{folder}/{record.output}")


def _total(ledger: Ledger) -> int | None:
    """Sum the totals of all shards; None unless each is known."""
    totals = [journal.total for journal in ledger.journals]
    known = [total for total in totals if total is not None]
    return sum(known) if len(known) == len(totals) and not ledger.shards_without_manifest() else None


def _begun(journal: Journal) -> str:
    return _text(journal.run.get("time"))


def _run_of(journal: Journal) -> BatchRun:
    pid = journal.run.get("pid")
    return BatchRun(
        time=_begun(journal)[:40],
        pid=pid if _is_pid(pid) else None,
        version=_text(journal.run.get("program_version"))[:40],
        shard=_shard_of(journal),
        is_ended=journal.is_ended,
    )


def _shard_of(journal: Journal) -> str | None:
    return None if journal.shard is None else f"{journal.shard.index}/{journal.shard.count}"


def _owner_of(held: Held) -> BatchOwner:
    since = held.since if math.isfinite(held.since) and 0 <= held.since < 1e11 else 0.0
    return BatchOwner(pid=held.pid if _is_pid(held.pid) else 0, host=held.host, since=since)


def _is_pid(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 32


def _text(value: Any) -> str:  # noqa: ANN401  whatever a line holds
    return value if isinstance(value, str) else ""


def lines_of(status: BatchStatus) -> list[str]:
    """Return the status as lines of text."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in status.kinds.items())
    failed = status.failed + status.set_aside
    lines = [f"job          {status.title}"] if status.title else []
    lines += [
        f"generated    {status.done}{_of_how_many(status)}",
        f"failed       {failed}{f' ({kinds})' if kinds else ''}",
    ]
    lines += [f"skipped      {status.skipped}"] if status.skipped else []
    lines += [f"missing      {status.gone}, which the next run generates again"] if status.gone else []
    lines += [f"shards       {', '.join(status.shards)}"] if status.shards else []
    lines += [f"no manifest  shards {', '.join(status.shards_missing)}"] if status.shards_missing else []
    lines += [f"damaged      {status.damaged_lines} lines of the manifest"] if status.damaged_lines else []
    lines += [f"running      {_words_of(one)}" for one in status.running]
    if not status.running and not status.is_ended:
        lines.append("the last run did not finish: run the same command to resume")
    return lines


def _of_how_many(status: BatchStatus) -> str:
    """Omit the total after a job was changed: earlier images count too, and may exceed it."""
    if status.total is None:
        return ""
    ended, wanted = status.done + status.failed + status.set_aside, status.total - status.skipped
    return "" if ended > wanted else f" of {wanted}"  # skipped tasks are not to be made


def _words_of(owner: BatchOwner) -> str:
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(owner.since)) if owner.since else "an unknown time"
    return f"a batch (process {owner.pid or '?'} on {owner.host or '?'}) since {since}"
