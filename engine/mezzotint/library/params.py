"""Parameter types of library service methods that are not part of the public protocol."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PathParams:
    """A file or folder."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsParams:
    """Files and folders."""

    paths: tuple[str, ...]
