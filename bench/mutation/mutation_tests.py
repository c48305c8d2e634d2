"""Select the tests that a mutation check runs for a module: those that mirror it, and fast ones that import it."""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = "tests/engine"


def tests_of(root: Path, modules: Sequence[str]) -> tuple[str, ...]:
    """Return the test files that mirror or import one of the modules, relative to the root, sorted."""
    paths = sorted((root / FOLDER).rglob("test_*.py"))
    found = (path.relative_to(root).as_posix() for path in paths)
    return tuple(name for name in found if mirrors(name, modules) or not imported(root / name).isdisjoint(modules))


def mirrors(name: str, modules: Sequence[str]) -> bool:
    """Whether `name` is test_NAME.py or test_NAME_TOPIC.py at the place that mirrors one of the modules."""
    mirrored = ["/".join([FOLDER, *one.split(".")[1:-1], f"test_{one.rpartition('.')[2]}"]) for one in modules]
    return any(name == f"{one}.py" or name.startswith(f"{one}_") for one in mirrored)


def imported(path: Path) -> set[str]:
    """Return the full names of a file's imports, both modules and names imported from them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return names


def too_slow(seconds: Mapping[str, float], modules: Sequence[str], budget: float) -> tuple[str, ...]:
    """Return the tests to exclude: the slowest that mirror no module, until the rest fits the budget."""
    others = sorted((name for name in seconds if not mirrors(name, modules)), key=lambda name: seconds[name])
    kept = 0
    while kept < len(others) and sum(seconds[name] for name in others[: kept + 1]) <= budget:
        kept += 1
    return tuple(others[kept:])
