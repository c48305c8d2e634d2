"""What all whole jobs share."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def graphs_are_traced_once(request) -> None:
    """Tracing a network takes seconds, and many models of these tests are of the same graph."""
    request.getfixturevalue("traced_once")
