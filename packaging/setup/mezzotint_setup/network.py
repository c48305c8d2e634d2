"""How files are asked for: the system's proxies and certificates."""

import os
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPResponse
from pathlib import Path

TIMEOUT = 30.0  # seconds without a byte
_LINUX = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_KEYCHAINS = ("/System/Library/Keychains/SystemRootCertificates.keychain", "/Library/Keychains/System.keychain")


class Network:
    """Opens URLs with the system's proxies and certificates, which are read when first needed."""

    def __init__(self, opener: urllib.request.OpenerDirector | None = None) -> None:
        self._opener = opener

    def open(self, url: str, first_byte: int = 0) -> HTTPResponse:
        """Open a URL from a byte on; raises OSError, of which HTTPError is a kind."""
        request = urllib.request.Request(url, headers={"User-Agent": "mezzotint-setup", "Accept-Encoding": "identity"})
        if first_byte:
            request.add_header("Range", f"bytes={first_byte}-")
        if self._opener is None:
            https = urllib.request.HTTPSHandler(context=system_certificates())
            self._opener = urllib.request.build_opener(https)
        response: HTTPResponse = self._opener.open(request, timeout=TIMEOUT)
        return response


def system_certificates(
    system: str = sys.platform,
    files: Sequence[str] = _LINUX,
    keychains: Callable[[], str] | None = None,
) -> ssl.SSLContext:
    """A context that trusts what the system trusts, also with a Python that was built elsewhere."""
    context = ssl.create_default_context()
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return context
    if system == "darwin":
        if pem := (keychains or _keychains)():
            context.load_verify_locations(cadata=pem)
    elif not context.cert_store_stats()["x509_ca"]:  # Windows has loaded its store
        found = next((one for one in files if Path(one).is_file()), None)
        if found is not None:
            context.load_verify_locations(cafile=found)
    return context


def _keychains() -> str:
    command = ["/usr/bin/security", "find-certificate", "-a", "-p", *_KEYCHAINS]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
