"""What the bootstrap tells of the machine, the builds and its work; packaging/setup/README.md describes its events."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from mezzotint.codec import decode

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A graphics card."""

    vendor: str
    name: str
    memory_bytes: int | None = None
    capability: tuple[int, int] | None = None  # NVIDIA's compute capability
    target: str | None = None  # AMD's architecture


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Bytes of a build: of all its packages, of those not yet downloaded, and on disk."""

    download: int
    missing: int
    disk: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What keeps the best build from working, and what to do."""

    code: str
    what: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a build is advised, as a code."""

    code: str
    card: str | None = None  # the name of the card that it is about
    lacks: str | None = None  # the build that would be advised if this release had it


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The machine, and the builds that this release has for it."""

    gpus: tuple[Gpu, ...]
    driver: str | None
    root: str
    free: int
    version: str
    installed: str | None
    update: bool  # whether the version of the installer is newer than the one in use
    before: str | None
    backend: str  # the one that is advised
    why: str
    advice: Advice | None
    backends: dict[str, Needs]
    reason: Reason | None = None
    update_check: bool | None = None  # whether looking for releases is allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The newest release."""

    version: str
    newer: bool
    download: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a command failed."""

    code: str
    what: str
    next: str = ""


def read(kind: type[T], event: Mapping[str, object]) -> T:
    """Decode an event; fields that a newer bootstrap adds are dropped. Raises ProtocolError."""
    fields = dict(event)
    for name, part in (("gpus", Gpu), ("backends", Needs), ("advice", Advice), ("reason", Reason)):
        if name in fields:
            fields[name] = _known(part, fields[name])
    return decode(kind, _known(kind, fields))


def _known(kind: type, data: object) -> object:
    """The data without fields that the type does not have; also of each item of a list or table of it."""
    names = {field.name for field in dataclasses.fields(kind)}
    if isinstance(data, list):
        return [_known(kind, one) for one in data]
    if not isinstance(data, Mapping):
        return data
    if data and all(isinstance(one, Mapping) for one in data.values()):
        return {name: _known(kind, one) for name, one in data.items()}
    return {name: one for name, one in data.items() if name in names}
