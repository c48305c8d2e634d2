"""The source files of the kernels, and a digest of their contents."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

KERNELS = Path(__file__).parents[1]
CSRC = KERNELS / "csrc"
OUTPUT = KERNELS.parent / "build"
# The architectures to compile for; CMakeLists.txt has the same list, which a test compares.
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120")
# The one for all of compute capability 12.x, with what such code alone may have.
FAMILY = "sm_120f"
_OF_FAMILY = "block_scaled"  # the folders of its sources
# The one with Hopper's own copies and products.
HOPPER = "sm_90a"
_OF_HOPPER = "hopper_"  # its sources begin so
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def kernel_sources(folder: Path = CSRC) -> list[Path]:
    """Return every file that nvcc compiles."""
    return sorted(folder.rglob("*.cu"))


def architectures_of(source: Path, wanted: Iterable[str] = ARCHITECTURES) -> tuple[str, ...]:
    """Return which architectures a source is compiled for, of those `wanted`: FAMILY stands for sm_120."""
    if source.name.startswith(_OF_HOPPER):
        return tuple(each for each in wanted if each == HOPPER)
    if _OF_FAMILY not in source.parts:
        return tuple(wanted)
    return (FAMILY,) if FAMILY.rstrip("f") in wanted else ()


def source_name(source: Path) -> str:
    """Return a source's name in the register table: its path in csrc, or its file name if it is elsewhere."""
    return source.relative_to(CSRC).as_posix() if source.is_relative_to(CSRC) else source.name


def closure(source: Path) -> list[Path]:
    """Return a source and everything it includes with quotes, each once."""
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        path = waiting.pop().resolve()
        if path in found:
            continue
        found[path] = None
        names = _INCLUDE.findall(path.read_text("utf-8"))
        waiting += [path.parent / name for name in names if (path.parent / name).is_file()]
    return sorted(found)


def digest(source: Path, words: Iterable[str]) -> str:
    """Return a digest of a source, its includes, and the words that determine how it is compiled."""
    state = hashlib.sha256()
    for word in words:
        state.update(word.encode() + b"\0")
    for path in closure(source):
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()
