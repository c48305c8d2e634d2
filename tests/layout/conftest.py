"""Fixtures with the project's files for the layout tests."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Files that git tracks or would add; relative to the root."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return sorted(Path(name) for name in set(listed.split("\0")) if name and (ROOT / name).is_file())


@pytest.fixture(scope="session")
def sources(files) -> dict[Path, ast.Module]:
    """Syntax trees of all Python files that are not tests."""
    return {
        path: ast.parse((ROOT / path).read_text("utf-8"), str(path))
        for path in files
        if path.suffix == ".py" and path.parts[0] in {"engine", "app", "kernels", "bench", "packaging"}
    }
