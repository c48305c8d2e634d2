"""Unused objects are deleted on the test's thread: another may not delete an object of Qt, and would crash at times.

from collected_here import collected_here  # noqa: F401  in a test module whose objects of Qt meet threads
"""

import gc

import pytest


@pytest.fixture(autouse=True)
def collected_here():
    gc.disable()
    yield
    gc.enable()
    gc.collect()
