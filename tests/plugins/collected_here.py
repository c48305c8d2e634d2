"""Unused objects are deleted on the test's thread: another may not delete an object of Qt, and would crash at times.

from collected_here import collected_here  # noqa: F401  where objects of Qt meet threads
"""

import gc
from gc import collect  # a test may put something else in its place

import pytest


@pytest.fixture(autouse=True)
def collected_here():
    gc.disable()
    yield
    gc.enable()
    collect()
