"""Unused objects are deleted on the test's thread: another may not delete an object of Qt, and would crash at times.

from collected_here import collected_here  # noqa: F401  where objects of Qt meet threads
"""

import gc
import itertools

import pytest

_WHOLE = 20  # tests between two looks at everything

_tests = itertools.count(1)


@pytest.fixture(autouse=True)
def collected_here():
    gc.disable()
    yield
    gc.enable()
    gc.collect(2 if next(_tests) % _WHOLE == 0 else 1)
