"""What the tests of other files have left, a million objects, is not searched for garbage again and again."""

import gc
from gc import collect  # a test may put something else in its place

import pytest

_running: list[object] = [None]  # the file whose tests run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at all that there is once, when another file begins."""
    if item.path != _running[0]:
        _running[0] = item.path
        collect()
        gc.freeze()
