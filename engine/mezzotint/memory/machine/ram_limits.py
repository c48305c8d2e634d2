"""Limits on this process's RAM, by control groups and resource limits, and their usage."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ReadText = Callable[[str], str | None]

_NO_LIMIT = 2**60  # cgroup version 1 reports a huge number if there is no limit
_ROOT = PurePosixPath("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A limit and how much of it is used."""

    name: str
    limit: int
    used: int


def read_text(path: str) -> str | None:
    """Read a kernel file; None if it cannot be read."""
    try:
        return Path(path).read_text("utf-8", errors="replace")
    except OSError:
        return None


def group_bounds(read: ReadText = read_text) -> Iterator[Bound]:
    """Limits of the process's control groups, versions 1 and 2, and of their parents."""
    for line in (read("/proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if number == "0" and not kinds:
            yield from _bounds(read, _ROOT, path, ("memory.max", "memory.current", "inactive_file"))
        elif "memory" in kinds.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _bounds(read, _ROOT / "memory", path, names)


def _bounds(read: ReadText, root: PurePosixPath, path: str, names: tuple[str, str, str]) -> Iterator[Bound]:
    """In a container the path may be the host's; then only the root exists, and it is the container's group."""
    inside = PurePosixPath(path.lstrip("/"))
    for folder in dict.fromkeys((root / inside, *(root / above for above in inside.parents), root)):
        limit, used = (_number(read(str(folder / name))) for name in names[:2])
        if limit is not None and limit < _NO_LIMIT:
            kept = _statistic(read(str(folder / "memory.stat")), names[2])  # page cache, reclaimed when memory is short
            yield Bound(name="its cgroup", limit=limit, used=max(0, (used or 0) - kept))


def own_bounds(read: ReadText = read_text, limit_of: Callable[[str], int | None] | None = None) -> Iterator[Bound]:
    """Resource limits of the process: RLIMIT_DATA and RLIMIT_AS."""
    status = read("/proc/self/status")
    for name, counted in (("RLIMIT_DATA", "VmData:"), ("RLIMIT_AS", "VmSize:")):
        limit = (limit_of or resource_limit)(name)
        if limit is not None:
            yield Bound(name=name, limit=limit, used=_kilobytes(status, counted))


def resource_limit(name: str) -> int | None:
    """Return the soft limit of this name; None if unlimited or not supported by this system."""
    if sys.platform == "win32":
        return None
    import resource

    number = getattr(resource, name, None)
    if number is None:
        return None
    soft = resource.getrlimit(number)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def _number(text: str | None) -> int | None:
    digits = (text or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() else None


def _statistic(text: str | None, name: str) -> int:
    for line in (text or "").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return _number(value) or 0
    return 0


def _kilobytes(text: str | None, name: str) -> int:
    for line in (text or "").splitlines():
        if line.startswith(name):
            return (_number(line.removeprefix(name).strip().removesuffix("kB")) or 0) * 1024
    return 0
