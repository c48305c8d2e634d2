"""The mutation check on a package made up for it: what it finds in a source, and what it says of tests."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "waitid"), reason="the mutation check needs a system with waitid")
BENCH = Path(__file__).parents[2] / "bench" / "mutation"
SOURCE = '''"""Sums."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["below"][0:1]


def below(number: "int | None", limit: int = 7) -> bool:
    """Whether it is."""
    if number is None:
        raise ValueError(f"no number below {limit + 1}")
    return number < limit


def counted(number: int) -> int:
    """Itself, one by one."""
    steps = 0
    while number > 0:
        number -= 1
        steps += 1
    return steps
'''
GOOD = """
import pytest

def test_below():
    assert [below(number) for number in (6, 7, 8)] == [True, False, False]
    with pytest.raises(ValueError):
        below(None)

def test_counted():
    assert counted(3) == 3
"""
USELESS = """
def test_they_run():
    below(3)
    counted(3)
"""
WRONG = """
def test_that_fails():
    assert counted(3) == 4
"""
SETTINGS = '[tool.pytest.ini_options]\npythonpath = ["engine"]\naddopts = "--import-mode=importlib"\n'


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import mutants

    return mutants


@pytest.fixture
def check(tmp_path):
    """Run the script on modules that are all the same, each with the tests given; the results, and what it printed."""
    sources, tests = tmp_path / "engine" / "small", tmp_path / "tests" / "engine"
    for folder in (sources, tests):
        folder.mkdir(parents=True)
    (sources / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(SETTINGS)

    def run(tests_of, *words):
        for name, test in tests_of.items():
            (sources / f"{name}.py").write_text(SOURCE)
            (tests / f"test_{name}.py").write_text(f"from small.{name} import below, counted\n{test}")
        modules = [word for name in tests_of for word in ("--module", f"small.{name}")]
        output = tmp_path / "found.json"
        command = [sys.executable, BENCH / "mutation.py", "--root", tmp_path, "--output", output, *modules, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        return done.returncode, json.loads(output.read_text())["results"], done.stdout

    return run


def test_a_source_has_the_same_mutants_every_time(mutants):
    found = mutants.mutants_of(SOURCE, "small.sums")
    assert found == mutants.mutants_of(SOURCE, "small.sums")
    assert len({one.id for one in found}) == len(found)
    assert [(one.line, one.operator, one.before, one.after) for one in found] == [
        (11, "constant", "7", "8"),
        (13, "comparison", "number is None", "number is not None"),
        (13, "condition", "number is None", "True"),
        (13, "condition", "number is None", "False"),
        (14, "statement", "raise ValueError(f'no number below {limit + 1}')", "pass"),
        (15, "result", "return number < limit", "return None"),
        (15, "comparison", "number < limit", "number <= limit"),
        (20, "constant", "0", "1"),
        (21, "comparison", "number > 0", "number >= 0"),
        (21, "condition", "number > 0", "False"),
        (21, "constant", "0", "1"),
        (22, "arithmetic", "number -= 1", "number += 1"),
        (22, "statement", "number -= 1", "pass"),
        (22, "constant", "1", "2"),
        (23, "arithmetic", "steps += 1", "steps -= 1"),
        (23, "statement", "steps += 1", "pass"),
        (23, "constant", "1", "2"),
        (24, "result", "return steps", "return None"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a and not b", ["x = a or not b", "x = a and b"]),
        ("x = -a * b", ["x = -a / b", "x = a * b"]),
        ("x = max(a, b)", ["x = min(a, b)"]),
        ("x = a[b:]", ["x = a[b + 1:]"]),
        ("x = [a for a in b if a]", ["x = [a for a in b if True]"]),
        ("x = True if a else b", ["x = False if a else b", "x = True if True else b", "x = True if False else b"]),
        ("a.b = c", ["pass"]),
        ("print(a)", ["pass"]),
        ("x = a not in b is c", ["x = a in b is c", "x = a not in b is not c"]),
    ],
)
def test_each_is_one_fault(mutants, before, after):
    import ast

    found = mutants.mutants_of(before, "m")
    assert sorted(ast.unparse(mutants.mutated(before, one)) for one in found) == sorted(after)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a: 'int' = None, *, b: list[3] = None) -> tuple[4]: 'Five.'",
        "@dataclass(frozen=True)\nclass A:\n    b: Literal[1]",
        "class A(Protocol):\n    b = 1",
        "logger.warning(1)",
        "import a",
    ],
)
def test_what_no_test_can_notice_is_left_alone(mutants, source):
    assert mutants.mutants_of(source, "m") == []


def test_a_sample_stays_when_lines_move(mutants):
    found, moved = (mutants.mutants_of(text, "m") for text in (SOURCE, SOURCE.replace('."""\n', '."""\n\n')))
    first, second = (mutants.sampled(each, 5, 0) for each in (found, moved))
    assert [(one.scope, one.before, one.after) for one in first] == [(o.scope, o.before, o.after) for o in second]
    assert first != second
    assert first == sorted(first, key=found.index)
    assert first != mutants.sampled(found, 5, 1)


@pytest.mark.slow
def test_what_tests_notice_is_counted_what_they_let_pass_is_listed_and_wrong_tests_count_for_nothing(check):
    words = ("--sample", "5", "--seed", "3", "--least", "2", "--survivors")
    status, (good, useless), said = check({"sums": GOOD, "passed": USELESS, "wrong": WRONG}, *words)
    assert (status, "small.wrong: without a mutant the tests failed" in said) == (1, True)
    assert (good["mutants"], good["timed_out"], good["survivors"]) == (5, 1, [])
    assert (useless["mutants"], useless["timed_out"], len(useless["survivors"])) == (5, 1, 2)
    assert [line for line in said.splitlines() if line.startswith("| `small")] == [
        "| `small.sums` | 5 | 5 | 0 | 100.0 |",
        "| `small.passed` | 5 | 3 | 2 | 60.0 |",
    ]
    assert said.splitlines()[-2:] == [
        "small.passed:21:10:comparison: number > 0 -> number >= 0",
        "small.passed:23:17:constant: 1 -> 2",
    ]


def test_tests_that_mirror_a_module_or_import_it_are_its_tests(mutants, tmp_path):
    from mutation_tests import tests_of, too_slow

    folder = tmp_path / "tests" / "engine" / "jobs"
    folder.mkdir(parents=True)
    for name, text in {
        "test_store.py": "",
        "test_store_scale.py": "",
        "test_storekeeper.py": "import a.jobs.store_of_others",
        "test_order.py": "from a.jobs import order, store",
        "test_late.py": "def test_it():\n    from a.jobs.store import JobStore",
    }.items():
        (folder / name).write_text(text)
    found = tests_of(tmp_path, ["a.jobs.store"])
    assert [Path(name).stem for name in found] == ["test_late", "test_order", "test_store", "test_store_scale"]
    slow = too_slow(dict(zip(found, (3.0, 2.0, 90.0, 1.0), strict=True)), ["a.jobs.store"], budget=4.0)
    assert [Path(name).stem for name in slow] == ["test_late"]


def test_an_earlier_check_stands_beside_it(mutants, tmp_path):
    from mutation_results import Result, Survivor, read, table, write

    survivors = tuple(Survivor(id=f"a.b:{line}:0:logic", before="a", after="b") for line in range(1, 4))
    then = Result(
        modules=("a.b",), tests=("c",), left_out=("d",), seconds=1, possible=9, mutants=4, survivors=survivors[:1]
    )
    first = replace(then, survivors=survivors)
    write(tmp_path / "before.json", [first], seed=0, sample=4)
    assert read(tmp_path / "before.json") == [first]
    assert table([then], [first]).splitlines() == [
        "| Module | Mutants | Killed | Survived | Before, % | Killed, % |",
        "|---|--:|--:|--:|--:|--:|",
        "| `a.b` | 4 | 3 | 1 | 25.0 | 75.0 |",
        "| all | 4 | 3 | 1 | 25.0 | 75.0 |",
    ]
