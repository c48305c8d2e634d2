"""Which addresses may be asked."""

import pytest

from mezzotint_setup.addresses import is_safe


@pytest.mark.parametrize(
    "address",
    ["https://example.org/x", "http://127.0.0.1:80/x", "http://127.9.9.9", "http://[::1]:8/x", "http://localhost/"],
)
def test_encrypted_or_of_this_machine(address):
    assert is_safe(address)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:x@example.org/", "http://127.0.0.1:80@example.org/", "http://127.0.0.1.example.org/",
        "http://127.0.0.1:80.example.org/", "http://localhost.example.org", "https://", "https:///x", "https://me@x.org",
        "https://:secret@x.org", "http://example.org", "file:///etc/passwd", "//127.0.0.1/", "http://[::1", "x",
        "http://0.0.0.0/", "https://x:99999/", "ftp://127.0.0.1/", "http://2130706433.example.org/",
    ],
)  # fmt: skip
def test_nothing_else(address):
    assert not is_safe(address)
