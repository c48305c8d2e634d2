"""The payload that every installer carries: uv, our wheels, the locks and the bootstrap."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint_package.archives import Member
from mezzotint_package.errors import PackagingError


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a payload is made of."""

    version: str
    python: str  # what a launcher gets where there is none yet
    uv: bytes
    uv_name: str
    wheels: Sequence[Path]
    locks: Mapping[str, str]  # by backend
    bootstrap: Path  # the folder mezzotint_setup
    mirrors: Sequence[str] = ()
    updates: str = ""  # the address of the index of releases
    key: str = ""  # that it is signed by


def payload(parts: Parts) -> dict[str, Member]:
    """Return its files by relative path; payload.json has the hash of each."""
    files = {parts.uv_name: Member(data=parts.uv, program=True)}
    files |= {f"wheels/{wheel.name}": Member(data=wheel.read_bytes()) for wheel in parts.wheels}
    files |= {f"locks/pylock.{name}.toml": Member(data=lock.encode()) for name, lock in parts.locks.items()}
    modules = sorted(parts.bootstrap.glob("**/*.py"))
    if not modules:
        raise PackagingError(f"there is no bootstrap in {parts.bootstrap}")
    files |= {
        f"{parts.bootstrap.name}/{module.relative_to(parts.bootstrap).as_posix()}": Member(data=module.read_bytes())
        for module in modules
    }
    table = {
        "version": parts.version,
        "python": parts.python,
        "index": list(parts.mirrors),
        "updates": parts.updates,
        "key": parts.key,
        "files": {name: hashlib.sha256(files[name].data).hexdigest() for name in sorted(files)},
    }
    files["payload.json"] = Member(data=(json.dumps(table, indent=1) + "\n").encode())
    return files


def laid_out(files: Mapping[str, Member], folder: Path) -> None:
    """Write files into a folder, with their permissions."""
    for name, member in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.link:
            path.symlink_to(member.link)
        else:
            path.write_bytes(member.data)
            path.chmod(member.mode)
