"""Require 100 % statement and branch coverage of the modules in bench/full_coverage.txt by their own tests.

python bench/full_coverage.py [options of pytest]

Counts what the tests run in their own process, in file order.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".txt")
REPORT = ROOT / "build" / "coverage" / "full.json"

Files = Mapping[str, Mapping[str, Any]]  # of a coverage report, by path


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the list."""

    path: PurePosixPath
    is_folder: bool
    further_tests: tuple[str, ...]

    def modules(self, root: Path = ROOT) -> list[str]:
        """Return the modules that the line covers."""
        found = sorted((root / self.path).rglob("*.py")) if self.is_folder else [root / self.path]
        return [path.relative_to(root).as_posix() for path in found]

    def tests(self, root: Path = ROOT) -> list[str]:
        """Return its tests: the test folder, or test_b.py and test_b_*.py for `b.py`, plus those listed on the line."""
        part, _, *inside = self.path.parts
        place = root.joinpath("tests", part, *inside)
        own = (f"test_{place.stem}.py", f"test_{place.stem}_")
        beside = [place] if self.is_folder else sorted(place.parent.glob("test_*.py"))
        mirrors = [path for path in beside if self.is_folder or path.name.startswith(own)]
        return [*map(str, mirrors), *(str(root / name) for name in self.further_tests)]


def entries(text: str) -> list[Entry]:
    """Parse the list."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [
        Entry(path=PurePosixPath(name), is_folder=name.endswith("/"), further_tests=tuple(tests))
        for name, *tests in lines
    ]


def measure(tests: Iterable[str], options: Sequence[str]) -> int:
    """Run the tests, write the report, and return the exit status of pytest."""
    measured = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"), data_file=None)
    measured.set_option("run:patch", [])  # do not measure subprocesses
    with measured.collect():
        status = int(pytest.main(["-p", "no:randomly", *options, *dict.fromkeys(tests)]))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    measured.json_report(outfile=str(REPORT))
    return status


def gaps(files: Files, held: Sequence[str]) -> Iterator[str]:
    """Yield a line for each uncovered place in the `held` modules."""
    for name in held:
        if name not in files:
            yield f"{name}: no test imports it"
            continue
        missed = files[name]["missing_lines"]
        yield from (f"{name}:{line}: is not run" for line in missed)
        for line, target in files[name]["missing_branches"]:
            if line not in missed:
                yield f"{name}:{line}: never goes on " + (f"to line {target}" if target > 0 else "to the end")


def additions(files: Files, held: Sequence[str]) -> list[str]:
    """Return fully covered modules in the same folders that are not listed yet."""
    folders = {PurePosixPath(name).parent for name in held}
    return [name for name in files if PurePosixPath(name).parent in folders and name not in held and whole(files[name])]


def whole(file: Mapping[str, Any]) -> bool:
    """Whether the file has statements and all of them are covered."""
    return file["summary"]["num_statements"] > 0 and not file["missing_lines"] and not file["missing_branches"]


def main(options: Sequence[str]) -> int:
    """Measure, and print what is missing."""
    listed = entries(LIST.read_text("utf-8"))
    if status := measure((test for entry in listed for test in entry.tests()), options):
        return status
    report = json.loads(REPORT.read_text("utf-8"))["files"]
    files = {name.replace("\\", "/"): file for name, file in report.items()}
    held = [name for entry in listed for name in entry.modules()]
    missing = list(gaps(files, held))
    for line in (*missing, *(f"{name}: fully covered, add it to bench/{LIST.name}" for name in additions(files, held))):
        print(line)
    print(f"{len(missing)} gaps in {len(held)} modules" if missing else f"{len(held)} modules are fully covered")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
