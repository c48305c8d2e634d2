"""Mutation testing: inject faults into core modules one at a time, and count how many the tests detect.

python bench/mutation/mutation.py [--module mezzotint.codec] [--sample 40 | --all] [--jobs 2] [--survivors]
                                  [--output FILE]
python bench/mutation/mutation.py --root ../older-checkout  # that checkout's sources, tests and settings, all of them
python bench/mutation/mutation.py --before FILE             # compare with an --output file, excluding the same tests

A subject is one module, or a thin module together with those it delegates to. Its tests are the files in tests/engine
that mirror it, plus as many of those that import it as the time budget allows. The faults (mutants.py) are a sample
that depends only on the seed and the source; a mutant is killed if a test fails, or if the tests take far longer than
without it. Requires fork and waitid, so Linux.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also where Python leaves the script's folder out of sys.path

from mutants import Mutant, mutants_of, sampled
from mutation_results import Result, counted, read, table, write
from mutation_runs import Outcome, RunReport, Trial, outcomes, preload, run_unmutated, source_of
from mutation_tests import mirrors, tests_of, too_slow

CORE = (
    ("mezzotint.checkpoints.header",),
    ("mezzotint.images.metadata",),
    # The store delegates nearly everything to these modules.
    ("mezzotint.jobs.store", "mezzotint.jobs.claiming", "mezzotint.jobs.editing", "mezzotint.jobs.running"),
    ("mezzotint.memory.planning.planner",),
    ("mezzotint.memory.planning.search",),
    ("mezzotint.batch.manifest.manifest",),
    ("mezzotint.batch.tasks.tasks",),
    ("mezzotint.codec",),
    ("mezzotint.quantization.formats",),
    ("mezzotint.stages.schedule",),
)
LONGER = 4  # times the unmutated duration after which a mutant counts as an endless loop
UNMUTATED = 1800.0  # timeout in seconds of an unmutated run


class Unsound(Exception):
    """Raised if the tests fail even without a mutant."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Tests that run together, on the mutants that survived the previous stage."""

    tests: tuple[str, ...]
    seconds: float  # unmutated duration


def check(
    root: Path, modules: tuple[str, ...], arguments: argparse.Namespace, left_out: Sequence[str] | None
) -> Iterator[Result]:
    """Yield the result before the first mutant and after each. `left_out`: excluded tests; None: choose by budget."""
    tests, left_out = selected(root, modules, arguments.budget, left_out)
    stages = staged(root, modules, tests)
    mutants, possible = chosen(root, modules, None if arguments.all else arguments.sample, arguments.seed)
    seconds = round(sum(stage.seconds for stage in stages), 1)
    print(f"{modules[0]}: {len(mutants)} of {possible} mutants, each up to {seconds} s", flush=True)
    result = Result(modules=modules, tests=tests, left_out=tuple(left_out), seconds=seconds, possible=possible)
    yield result
    for mutant, outcome in tried(root, modules, stages, mutants, arguments):
        result = counted(result, mutant, outcome)
        yield result


def selected(
    root: Path, modules: tuple[str, ...], budget: float, left_out: Sequence[str] | None
) -> tuple[tuple[str, ...], Sequence[str]]:
    """Return the tests, fastest first, and those excluded; preloads what they import into this process."""
    tests = tuple(name for name in tests_of(root, modules) if name not in (left_out or ()))
    told = passed(root, modules, tests)
    preload(told.loaded)
    if left_out is None:
        left_out = too_slow(told.seconds, modules, budget)
    times = {name: told.seconds.get(name, 0.0) for name in (*tests, *left_out)}
    tests = tuple(sorted((name for name in tests if name not in left_out), key=lambda name: times[name]))
    for name in (*tests, *left_out):
        print(f"  {times[name]:6.2f} s  {name}{' (left out)' * (name in left_out)}", flush=True)
    return tests, left_out


def staged(root: Path, modules: tuple[str, ...], tests: tuple[str, ...]) -> list[Stage]:
    """Split into stages: first the tests that mirror a module, which kill most; then the others, which load slowly."""
    own = tuple(name for name in tests if mirrors(name, modules))
    stages = []
    for some in filter(None, (own, tuple(name for name in tests if name not in own))):
        started = time.perf_counter()
        passed(root, modules, some)
        stages.append(Stage(some, time.perf_counter() - started))
    return stages


def tried(
    root: Path, modules: tuple[str, ...], stages: Sequence[Stage], mutants: list[Mutant], arguments: argparse.Namespace
) -> Iterator[tuple[Mutant, Outcome]]:
    """Yield every mutant with its outcome as soon as it is known."""
    for stage in stages:
        limit, let_pass = max(arguments.least, LONGER * stage.seconds), []
        trials = [Trial(tests=stage.tests, modules=modules, mutant=mutant, seconds=limit) for mutant in mutants]
        for trial, outcome in outcomes(root, trials, arguments.jobs):
            if trial.mutant is None or outcome == "passed":
                let_pass.append(trial.mutant)
            else:
                yield trial.mutant, outcome
        mutants = [mutant for mutant in mutants if mutant in let_pass]
    yield from ((mutant, "passed") for mutant in mutants)


def passed(root: Path, modules: tuple[str, ...], tests: tuple[str, ...]) -> RunReport:
    """A run without a mutant that can be built upon."""
    told = run_unmutated(root, Trial(tests=tests, modules=modules, seconds=UNMUTATED))
    if told.outcome != "passed":
        raise Unsound(f"{told.output[-4000:]}\n{modules[0]}: without a mutant the tests {told.outcome}")
    return told


def chosen(root: Path, modules: Sequence[str], count: int | None, seed: int) -> tuple[list[Mutant], int]:
    """Return the mutants to try, and the total number."""
    found = [mutant for one in modules for mutant in mutants_of(source_of(root, one).read_text("utf-8"), one)]
    return (found if count is None else sampled(found, count, seed)), len(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Try the mutants and print the table, even if interrupted; return 1 if a subject is missing."""
    arguments = _arguments(argv)
    before = read(arguments.before) if arguments.before else []
    wanted, done = subjects(arguments.module), dict[str, Result]()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # also if started in the background
    try:
        for modules in wanted:
            check_one(modules, arguments, before, done)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    results = list(done.values())
    print(f"\n{table(results, before)}")
    for survivor in (one for result in results for one in result.survivors if arguments.survivors):
        print(f"{survivor.id}: {survivor.before} -> {survivor.after}")
    return 0 if len(done) == len(wanted) else 1


def check_one(
    modules: tuple[str, ...], arguments: argparse.Namespace, before: Sequence[Result], done: dict[str, Result]
) -> None:
    """Check one subject, storing results in `done`, and write all results if --output was given."""
    earlier = [one.left_out for one in before if one.modules == modules]
    try:
        for result in check(arguments.root.resolve(), modules, arguments, earlier[0] if earlier else None):
            done[modules[0]] = result
        print(f"{modules[0]}: {result.killed} of {result.mutants} killed", flush=True)
    except Unsound as error:
        print(error, flush=True)
    finally:
        if arguments.output is not None:
            sample = None if arguments.all else arguments.sample
            write(arguments.output, list(done.values()), seed=arguments.seed, sample=sample)


def subjects(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the subjects named, a module not in CORE on its own; all of CORE if `names` is empty."""
    known = {one[0]: one for one in CORE}
    return [known.get(name, (name,)) for name in names or known]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2], help="another checkout")
    parser.add_argument("--module", action="append", default=[], help="one module; may be repeated")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each subject (%(default)s)")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--seed", type=int, default=0, help="another sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at a time (%(default)s)")
    parser.add_argument("--least", type=float, default=30, help="seconds that each has, and more where tests take long")
    parser.add_argument("--budget", type=float, default=30, help="seconds for tests that mirror nothing (%(default)s)")
    parser.add_argument("--survivors", action="store_true", help="list them")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("--before", type=Path, metavar="FILE", help="an earlier --output, for a column of its own")
    return parser.parse_args(argv)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # iterate over sets in the same order in every run
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {"PYTHONHASHSEED": "0"})
    sys.exit(main())
