"""Results of a mutation check: a table row per subject, and a file to compare later checks with."""

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
    """A mutant that no test detected."""

    id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Results of one subject."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: tuple[str, ...]  # tests excluded because they are too slow
    seconds: float  # duration of the tests without a mutant
    possible: int  # mutants in total
    mutants: int = 0  # tried
    timed_out: int = 0  # of those killed
    survivors: tuple[Survivor, ...] = ()

    @property
    def killed(self) -> int:
        """Number of mutants detected."""
        return self.mutants - len(self.survivors)


def counted(result: Result, mutant: Mutant, outcome: Outcome) -> Result:
    """Return the result with one more mutant counted."""
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
    """Return a Markdown table of the results and their total; `before` adds a column for an earlier check."""
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
    """Format a percentage with one decimal."""
    return f"{100 * killed / mutants:.1f}" if mutants else "-"


def write(path: Path, results: Sequence[Result], **settings: object) -> None:
    """Write the results as JSON, atomically."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        json.dump({**settings, "results": [asdict(one) for one in results]}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read(path: Path) -> list[Result]:
    """Read a results file."""
    return [_result(one) for one in json.loads(path.read_text("utf-8"))["results"]]


def _result(data: dict[str, Any]) -> Result:
    survivors = tuple(Survivor(**one) for one in data["survivors"])
    lists = {name: tuple(data[name]) for name in ("modules", "tests", "left_out")}
    return Result(**{**data, **lists, "survivors": survivors})
