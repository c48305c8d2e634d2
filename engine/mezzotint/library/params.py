"""What methods of the librarian take that is no type of the boundary: a path or several."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PathParams:
    """One file or folder."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsParams:
    """Files and folders."""

    paths: tuple[str, ...]
