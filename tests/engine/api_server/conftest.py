"""The API over an engine that draws."""

import pytest
from api_made import Served


@pytest.fixture
def served(tmp_path):
    """A server with the usual settings."""
    with Served(tmp_path / "out") as server:
        yield server
