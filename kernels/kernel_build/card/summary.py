"""Summary at the end of a run, in at most 60 lines."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kernel_build.card.parts import PARTS, Part
from kernel_build.card.record_file import Record
from kernel_build.card.verdicts import failures, unfinished, verdicts

MOST_LINES, _WIDTH = 60, 180
_MOST = 10  # lines of each kind
_WORTH_TELLING = 1.05  # slowdown against the best instance above which a choice is listed


def summary(record: Record, chosen: Sequence[Part], problems: Sequence[dict[str, Any]]) -> list[str]:
    """Return lines on what ran, what failed, which targets were missed, and where another instance is faster."""
    found = verdicts(record)
    states = Counter(verdict.state for verdict in found)
    lines = [f"{record.device.name}, torch {record.device.torch}, commit {record.commit}: {record.path}"]
    if record.device.is_stub:
        lines.append("there is no card: no figure of this run is one of a card")
    lines += [_part(record, part) for part in PARTS if part.name in record.parts]
    lines += _some("FAILED", failures(record))
    lines += _some("MISSED", [f"{each.target.what}: {each.why}" for each in found if each.state == "missed"])
    if not record.device.is_stub:
        lines += _some("slower than it could be", _slower(problems))
    left = unfinished(record, list(chosen))
    if left:
        lines.append(f"UNFINISHED, the same command goes on with it: {', '.join(left)}")
    lines.append(", ".join(f"{states[state]} targets {state}" for state in ("met", "missed", "pending")))
    return [line[:_WIDTH] for line in lines][:MOST_LINES]


def _part(record: Record, part: Part) -> str:
    told = record.parts[part.name]
    counts = Counter(row["outcome"] for row in record.of(part.name))
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "no rows"
    problem = f" ({told['problem']})" if told["problem"] else ""
    return f"{part.name}: {told['state']}{problem}, {words}, {told['seconds']:.0f} s"


def _slower(problems: Sequence[dict[str, Any]]) -> list[str]:
    slow = [each for each in problems if (each["chosen_by_best"] or 1) > _WORTH_TELLING]
    slow.sort(key=lambda each: -each["chosen_by_best"])
    return [f"{each['shape']}, {each['kind']}: {each['chosen_by_best']:.2f} times {each['best']}" for each in slow]


def _some(word: str, lines: Sequence[str]) -> list[str]:
    told = [f"{word}: {' '.join(line.split())}" for line in lines[:_MOST]]
    return [*told, f"{word}: {len(lines) - _MOST} more, in the file"] if len(lines) > _MOST else told
