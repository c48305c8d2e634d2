"""The list of fully covered modules names only files that exist."""

from pathlib import Path

import pytest

LIST = Path(__file__).parents[2] / "bench" / "full_coverage.txt"
LINES = [line for line in LIST.read_text("utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("line", LINES)
def test_modules_and_tests_of_the_list_exist(root, line):
    module, *tests = line.split()
    assert (root / module).is_dir() if module.endswith("/") else (root / module).is_file()
    assert all((root / name).is_file() for name in tests)


def test_nothing_is_listed_twice():
    names = [line.split()[0] for line in LINES]
    folders = tuple(name for name in names if name.endswith("/"))
    assert len(set(names)) == len(names)
    assert not [name for name in names if name not in folders and name.startswith(folders)]
