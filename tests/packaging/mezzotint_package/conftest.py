"""The smallest payload."""

import pytest

from mezzotint_package.archives import Member


@pytest.fixture
def files():
    """Files by relative path."""
    return {"uv": Member(data=b"\x7fELF", program=True), "payload.json": Member(data=b'{"python": "3.12"}')}
