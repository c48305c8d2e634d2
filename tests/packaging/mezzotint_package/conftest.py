"""The smallest payload."""

import sys

import pytest

from mezzotint_package.archives import Member

if sys.platform != "linux":
    collect_ignore_glob = ["test_signing.py"]  # releases are signed on Linux; the OpenSSL of macOS cannot


@pytest.fixture
def files():
    """Files by relative path."""
    return {"uv": Member(data=b"\x7fELF", program=True), "payload.json": Member(data=b'{"python": "3.12"}')}
