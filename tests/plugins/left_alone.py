"""What the tests of other files have left, a million objects, is not searched for garbage again and again."""

import gc
import itertools
from gc import collect  # a test may put something else in its place

import pytest

_ALL = 25  # files between two looks at everything: what is left alone may have become garbage, too

_files = itertools.count(1)
_running: list[object] = [None]  # the file whose tests run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at what is new when another file begins, and now and then at all that there is."""
    if item.path != _running[0]:
        _running[0] = item.path
        if next(_files) % _ALL == 0:
            gc.unfreeze()
        collect()
        gc.freeze()
