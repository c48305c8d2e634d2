"""What the tests prove: faults are put into core modules one at a time, and the tests that notice are counted.

python bench/mutation.py [--module mezzotint.codec] [--sample 40 | --all] [--jobs 2] [--survivors] [--output FILE]
python bench/mutation.py --root ../older-checkout      # that checkout's sources, tests and settings, all of them

Each subject is one module, or a thin one with those that it hands its work to. Its tests are the files in tests/engine
that mirror it or import it. The faults (mutants.py) are a sample that depends on the seed and the source alone; a
mutant is killed when a test fails, or when the tests take far longer than without it. It needs the system's fork and
waitid: Linux.
"""

import argparse
import ast
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also where Python keeps a script's folder out of it

from mutants import Mutant, mutants_of, sampled
from mutation_runs import Outcome, Told, Trial, outcomes, preload, source_of, unmutated

CORE = (
    ("mezzotint.checkpoints.header",),
    ("mezzotint.images.metadata",),
    # The store hands nearly everything on: these do it.
    ("mezzotint.jobs.store", "mezzotint.jobs.claiming", "mezzotint.jobs.editing", "mezzotint.jobs.running"),
    ("mezzotint.memory.planner",),
    ("mezzotint.memory.search",),
    ("mezzotint.batch.manifest",),
    ("mezzotint.batch.tasks",),
    ("mezzotint.codec",),
    ("mezzotint.quantization.formats",),
    ("mezzotint.stages.schedule",),
)
LONGER = 5  # times what the tests take without a mutant, before it counts as endless
UNMUTATED = 1800.0  # seconds that the tests may take without one
_TESTS = "tests/engine"


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
    seconds: float  # of the tests without a mutant
    possible: int  # mutants in all
    mutants: int = 0  # tried
    timed_out: int = 0  # of those that were killed
    survivors: tuple[Survivor, ...] = ()

    @property
    def killed(self) -> int:
        """How many were noticed."""
        return self.mutants - len(self.survivors)


def tests_of(root: Path, modules: Sequence[str]) -> tuple[str, ...]:
    """The test files that mirror a module or import it by name, from the root, in alphabetical order."""
    paths = sorted((root / _TESTS).rglob("test_*.py"))
    found = (path for path in paths if _mirrors(root, path, modules) or not imported(path).isdisjoint(modules))
    return tuple(path.relative_to(root).as_posix() for path in found)


def _mirrors(root: Path, path: Path, modules: Sequence[str]) -> bool:
    """Whether it is test_NAME.py or test_NAME_TOPIC.py in the place of one of the modules."""
    mirrored = [root.joinpath(_TESTS, *one.split(".")[1:-1], f"test_{one.rpartition('.')[2]}") for one in modules]
    return any(path == one.with_suffix(".py") or str(path).startswith(f"{one}_") for one in mirrored)


def imported(path: Path) -> set[str]:
    """Full names of what a file imports: modules, and names out of them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return names


def chosen(root: Path, modules: Sequence[str], count: int | None, seed: int) -> tuple[list[Mutant], int]:
    """The mutants to try, and how many there are."""
    found = [mutant for one in modules for mutant in mutants_of(source_of(root, one).read_text("utf-8"), one)]
    return (found if count is None else sampled(found, count, seed)), len(found)


def check(root: Path, modules: tuple[str, ...], arguments: argparse.Namespace) -> Iterator[Result]:
    """The result so far, before the first mutant and after each."""
    told, seconds = timed(root, modules, tests_of(root, modules))
    mutants, possible = chosen(root, modules, None if arguments.all else arguments.sample, arguments.seed)
    tests = tuple(sorted(told.seconds, key=lambda name: told.seconds[name]))  # the quick ones first
    print(f"{modules[0]}: {len(mutants)} of {possible} mutants; tests in {seconds:.0f} s:", flush=True)
    for name in tests:
        print(f"  {told.seconds[name]:6.2f} s  {name}", flush=True)
    result = Result(modules=modules, tests=tests, seconds=round(seconds, 1), possible=possible)
    yield result
    limit = max(arguments.least, LONGER * seconds)
    trials = [Trial(tests=tests, modules=modules, mutant=mutant, seconds=limit) for mutant in mutants]
    for trial, outcome in outcomes(root, trials, arguments.jobs):
        result = counted(result, trial.mutant, outcome)
        yield result


def timed(root: Path, modules: tuple[str, ...], tests: tuple[str, ...]) -> tuple[Told, float]:
    """Run the tests without a mutant, twice: once to see what they load, then as mutants will have it."""
    trial = Trial(tests=tests, modules=modules, mutant=None, seconds=UNMUTATED)
    preload(passed(unmutated(root, trial)).loaded)
    started = time.perf_counter()
    return passed(unmutated(root, trial)), time.perf_counter() - started


def passed(told: Told) -> Told:
    """A run without a mutant that can be built upon."""
    if told.outcome != "passed":
        raise SystemExit(f"{told.output[-4000:]}\nWithout a mutant the tests {told.outcome}: nothing can be said.")
    return told


def counted(result: Result, mutant: Mutant | None, outcome: Outcome) -> Result:
    """One mutant more."""
    survivors = result.survivors
    if outcome == "passed" and mutant is not None:
        survivors = (*survivors, Survivor(id=mutant.id, before=mutant.before, after=mutant.after))
    timed_out = result.timed_out + (outcome == "timed out")
    return replace(
        result, mutants=result.mutants + 1, timed_out=timed_out, survivors=tuple(sorted(survivors, key=_place))
    )


def _place(survivor: Survivor) -> tuple[str, int, int, str]:
    module, line, column, rest = survivor.id.split(":", 3)
    return module, int(line), int(column), rest


def table(results: Sequence[Result], before: Mapping[str, str] | None = None) -> str:
    """The results, and all of them together, in Markdown; `before`: the shares of an earlier check, by module."""
    rows = [(f"`{one.modules[0]}`", one.mutants, one.killed) for one in results]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    columns = ["Module", "Mutants", "Killed", "Survived", *(["Before, %"] if before else []), "Killed, %"]
    lines = [f"| {' | '.join(columns)} |", f"|---|{'--:|' * (len(columns) - 1)}"]
    for name, mutants, killed in rows:
        cells = [name, f"{mutants}", f"{killed}", f"{mutants - killed}"]
        cells += [before.get(name.strip("`"), "-")] if before else []
        lines.append(f"| {' | '.join([*cells, share(killed, mutants)])} |")
    return "\n".join(lines)


def share(killed: int, mutants: int) -> str:
    """Percent, with one decimal."""
    return f"{100 * killed / mutants:.1f}" if mutants else "-"


def shares(path: Path) -> dict[str, str]:
    """What `--output` wrote: the percent killed of each module, and of all."""
    found = json.loads(path.read_text("utf-8"))["results"]
    counts = {one["modules"][0]: (one["mutants"] - len(one["survivors"]), one["mutants"]) for one in found}
    totals = [sum(numbers) for numbers in zip(*counts.values(), strict=True)]
    return {name: share(*each) for name, each in (counts | {"all": totals}).items()}


def write(path: Path, results: Sequence[Result], *, seed: int, sample: int | None) -> None:
    """The results as JSON; the file is whole or as it was."""
    data = {"seed": seed, "sample": sample, "results": [asdict(one) for one in results]}
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def main(argv: Sequence[str] | None = None) -> int:
    """Try the mutants and print the table; when stopped, of what was done until then."""
    arguments = _arguments(argv)
    done: dict[str, Result] = {}
    try:
        for modules in subjects(arguments.module):
            for result in check(arguments.root.resolve(), modules, arguments):
                done[modules[0]] = result
            print(f"{modules[0]}: {result.killed} of {result.mutants} killed", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    show(list(done.values()), arguments)
    return 0 if len(done) == len(subjects(arguments.module)) else 130


def subjects(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Those of that name, a module that is none by itself; all of the core without names."""
    known = {one[0]: one for one in CORE}
    return [known.get(name, (name,)) for name in names or known]


def show(results: Sequence[Result], arguments: argparse.Namespace) -> None:
    """Print what was found, and write it where it was asked for."""
    before = None if arguments.before is None else shares(arguments.before)
    print(f"\n{table(results, before)}")
    for survivor in (one for result in results for one in result.survivors if arguments.survivors):
        print(f"{survivor.id}: {survivor.before} -> {survivor.after}")
    if arguments.output is not None:
        write(arguments.output, results, seed=arguments.seed, sample=None if arguments.all else arguments.sample)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="another checkout")
    parser.add_argument("--module", action="append", default=[], help="one module; may be repeated")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each subject")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--seed", type=int, default=0, help="another sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at a time")
    parser.add_argument(
        "--least", type=float, default=30.0, help="seconds of the processor that each may take in any case"
    )
    parser.add_argument("--survivors", action="store_true", help="list them")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("--before", type=Path, metavar="FILE", help="what --output wrote, for a column of its own")
    return parser.parse_args(argv)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets are walked in one order, run after run
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {"PYTHONHASHSEED": "0"})
    sys.exit(main())
