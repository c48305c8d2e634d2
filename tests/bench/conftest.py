"""The scripts of bench/, which are no package, as modules."""

import importlib.util
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def script(request):
    """The script that the test module is named after."""
    name = Path(request.module.__file__).stem.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(f"bench_{name}", next(BENCH.rglob(f"{name}.py")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
