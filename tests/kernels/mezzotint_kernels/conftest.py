"""The package with the stand-in for its library."""

import pytest

from mezzotint_kernels.library import VARIABLE
from mezzotint_kernels.library import library as opened


@pytest.fixture
def in_use(stand_in_path, stand_in, monkeypatch):
    """Let the package open the stand-in; gives its state."""
    monkeypatch.setenv(VARIABLE, str(stand_in_path))
    opened.cache_clear()
    yield stand_in
    opened.cache_clear()
