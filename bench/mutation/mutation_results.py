"""What a mutation check found: a line for each subject, and a file that a later check is compared with."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mutants import Mutant
from mutation_runs import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A mutant that no test noticed."""

    id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the tests of one subject noticed."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: tuple[str, ...]  # tests, for the time that they take
    seconds: float  # of the tests without a mutant
    possible: int  # mutants in all
    mutants: int = 0  # tried
    timed_out: int = 0  # of those that were killed
    survivors: tuple[Survivor, ...] = ()

    @property
    def killed(self) -> int:
        """How many were noticed."""
        return self.mutants - len(self.survivors)


def counted(result: Result, mutant: Mutant, outcome: Outcome) -> Result:
    """One mutant more."""
    survivors = list(result.survivors)
    if outcome == "passed":
        survivors.append(Survivor(id=mutant.id, before=mutant.before, after=mutant.after))
    return replace(
        result,
        mutants=result.mutants + 1,
        timed_out=result.timed_out + (outcome == "timed out"),
        survivors=tuple(sorted(survivors, key=_place)),
    )


def _place(survivor: Survivor) -> tuple[str, int, int, str]:
    module, line, column, rest = survivor.id.split(":", 3)
    return module, int(line), int(column), rest


def table(results: Sequence[Result], before: Sequence[Result] = ()) -> str:
    """The results, and all of them together, in Markdown; `before`: those of an earlier check, for a column."""
    columns = ["Module", "Mutants", "Killed", "Survived", *(["Before, %"] if before else []), "Killed, %"]
    lines = [f"| {' | '.join(columns)} |", f"|---|{'--:|' * (len(columns) - 1)}"]
    earlier = _counts(before)
    for name, (mutants, killed) in _counts(results).items():
        cells = [name, f"{mutants}", f"{killed}", f"{mutants - killed}"]
        cells += [share(*earlier.get(name, (0, 0)))] if before else []
        lines.append(f"| {' | '.join([*cells, share(mutants, killed)])} |")
    return "\n".join(lines)


def _counts(results: Sequence[Result]) -> Mapping[str, tuple[int, int]]:
    counts = {f"`{one.modules[0]}`": (one.mutants, one.killed) for one in results}
    return {**counts, "all": (sum(one.mutants for one in results), sum(one.killed for one in results))}


def share(mutants: int, killed: int) -> str:
    """Percent, with one decimal."""
    return f"{100 * killed / mutants:.1f}" if mutants else "-"


def write(path: Path, results: Sequence[Result], **settings: object) -> None:
    """The results as JSON; the file is whole or as it was."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        json.dump({**settings, "results": [asdict(one) for one in results]}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read(path: Path) -> list[Result]:
    """What was written."""
    return [_result(one) for one in json.loads(path.read_text("utf-8"))["results"]]


def _result(data: dict[str, Any]) -> Result:
    survivors = tuple(Survivor(**one) for one in data["survivors"])
    lists = {name: tuple(data[name]) for name in ("modules", "tests", "left_out")}
    return Result(**{**data, **lists, "survivors": survivors})
