"""Addresses that may be asked: encrypted, or of this machine."""

import ipaddress
from urllib.parse import urlsplit


def is_safe(address: str) -> bool:
    """Whether requests to an address are encrypted or stay on this machine, and it has no user or password."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.password is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone: localhost, or a loopback address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
