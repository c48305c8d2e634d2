"""Format branch coverage per package as a Markdown table, from the output of `coverage json`.

python bench/coverage_table.py build/coverage/after.json [--before build/coverage/before.json]

One row per folder of the engine and the app; modules outside of folders are combined.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PACKAGES = ("mezzotint", "mezzotint_app")
_SUMMED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Coverage counts of a package."""

    num_statements: int = 0
    covered_lines: int = 0
    num_branches: int = 0
    covered_branches: int = 0

    def plus(self, summary: Mapping[str, int]) -> "Covered":
        """Return the sum with one more file or package."""
        return Covered(**{name: getattr(self, name) + summary[name] for name in _SUMMED})


def package_of(path: str) -> str | None:
    """Return the package a file counts towards: `mezzotint.jobs`, or `mezzotint` for a top-level module."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    for number, part in enumerate(parts):
        if part in PACKAGES:
            return part if len(parts) - number <= 2 else f"{part}.{parts[number + 1]}"
    return None


def packages(report: Mapping[str, Mapping[str, Mapping[str, Mapping[str, int]]]]) -> dict[str, Covered]:
    """Return the packages of a report, sorted, followed by their total under "all"."""
    found: dict[str, Covered] = {}
    for path, file in report["files"].items():
        name = package_of(path)
        for key in () if name is None else (name, "all"):
            found[key] = found.get(key, Covered()).plus(file["summary"])
    return {name: found[name] for name in sorted(found, key=lambda name: (name == "all", name))}


def table(after: Mapping[str, Covered], before: Mapping[str, Covered] | None = None) -> str:
    """Return the table, one row per package."""
    columns = ["Package", "Statements", "Covered, %", "Branches", *(["Before, %"] if before else []), "Covered, %"]
    lines = [f"| {' | '.join(columns)} |", f"|---|{'--:|' * (len(columns) - 1)}"]
    for name, one in after.items():
        cells = [f"`{name}`" if name != "all" else name, f"{one.num_statements}"]
        cells += [share(one.covered_lines, one.num_statements), f"{one.num_branches}"]
        if before:
            old = before.get(name, Covered())
            cells.append(share(old.covered_branches, old.num_branches))
        lines.append(f"| {' | '.join([*cells, share(one.covered_branches, one.num_branches)])} |")
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    """Format a percentage with one decimal."""
    return f"{100 * part / whole:.1f}" if whole else "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--before", type=Path, metavar="REPORT", help="an older report, for a column of its own")
    arguments = parser.parse_args(argv)
    after, before = (_read(path) for path in (arguments.report, arguments.before))
    print(table(after or {}, before))
    return 0


def _read(path: Path | None) -> dict[str, Covered] | None:
    return None if path is None else packages(json.loads(path.read_text("utf-8")))


if __name__ == "__main__":
    sys.exit(main())
