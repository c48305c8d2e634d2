"""Unused objects are deleted on the test's thread: another may not delete an object of Qt, and would crash at times.

from collected_here import collected_here  # noqa: F401  where objects of Qt meet threads
"""

import gc
from gc import collect  # a test may put something else in its place

import pytest

_looked_at: list[object] = [None]  # the file whose tests run


@pytest.fixture(autouse=True)
def collected_here(request):
    if request.path != _looked_at[0]:
        _looked_at[0] = request.path
        collect()
        gc.freeze()  # what other tests have left stays, and need not be looked at after each of these
    gc.disable()
    yield
    gc.enable()
    collect()
