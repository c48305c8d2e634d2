"""Which tests a mutation check runs for a module: those that mirror it, and those that import it and are quick."""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

FOLDER = "tests/engine"


def tests_of(root: Path, modules: Sequence[str]) -> tuple[str, ...]:
    """The test files that mirror one of the modules or import it by name, from the root, in alphabetical order."""
    paths = sorted((root / FOLDER).rglob("test_*.py"))
    found = (path.relative_to(root).as_posix() for path in paths)
    return tuple(name for name in found if mirrors(name, modules) or not imported(root / name).isdisjoint(modules))


def mirrors(name: str, modules: Sequence[str]) -> bool:
    """Whether it is test_NAME.py or test_NAME_TOPIC.py in the place of one of the modules."""
    mirrored = ["/".join([FOLDER, *one.split(".")[1:-1], f"test_{one.rpartition('.')[2]}"]) for one in modules]
    return any(name == f"{one}.py" or name.startswith(f"{one}_") for one in mirrored)


def imported(path: Path) -> set[str]:
    """Full names of what a file imports: modules, and names out of them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return names


def too_slow(seconds: Mapping[str, float], modules: Sequence[str], budget: float) -> tuple[str, ...]:
    """Those that are left out: of the tests that mirror no module the slowest, until the others keep to the budget."""
    others = sorted((name for name in seconds if not mirrors(name, modules)), key=lambda name: seconds[name])
    kept = 0
    while kept < len(others) and sum(seconds[name] for name in others[: kept + 1]) <= budget:
        kept += 1
    return tuple(others[kept:])
