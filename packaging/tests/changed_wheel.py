"""Other versions of our wheel, made from the built one: newer, or broken."""

import base64
import hashlib
import re
from pathlib import Path
from zipfile import ZipFile

from mezzotint_package.archives import Member, zipped

_VERSION = re.compile(r"mezzotint-[^/-]+")


def changed(wheel: Path, version: str, folder: Path, *, broken: bool = False) -> Path:
    """Write the wheel again with another version; a broken one cannot make images."""
    with ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}
    info = f"mezzotint-{version}.dist-info"
    files = {re.sub(r"^mezzotint-[^/]+\.dist-info", info, name): data for name, data in files.items()}
    files["mezzotint/__init__.py"] = re.sub(
        rb'__version__ = "[^"]+"', f'__version__ = "{version}"'.encode(), files["mezzotint/__init__.py"]
    )
    metadata = f"{info}/METADATA"
    files[metadata] = re.sub(rb"(?m)^Version: .*$", f"Version: {version}".encode(), files[metadata], count=1)
    if broken:
        files["mezzotint/engine.py"] = b"raise ImportError('broken on purpose')\n"
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    path = folder / _VERSION.sub(f"mezzotint-{version}", wheel.name)
    path.write_bytes(zipped({name: Member(data=data) for name, data in files.items()}, 1767225600))
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
