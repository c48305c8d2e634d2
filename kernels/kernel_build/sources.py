"""The files that kernels are made of, and a name for exactly these contents."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

KERNELS = Path(__file__).parents[1]
CSRC = KERNELS / "csrc"
OUTPUT = KERNELS.parent / "build"
# Machine code for each of these; the same list as in CMakeLists.txt, which a test compares.
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_120")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def kernel_sources(folder: Path = CSRC) -> list[Path]:
    """Every file that nvcc compiles."""
    return sorted(folder.rglob("*.cu"))


def source_name(source: Path) -> str:
    """A source's path for the table of registers; its file name where it is not among the kernels."""
    return source.relative_to(CSRC).as_posix() if source.is_relative_to(CSRC) else source.name


def closure(source: Path) -> list[Path]:
    """A source and all that it includes by quoted names, each once."""
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
    """A name for a source's contents, those of its includes, and the words that decide how it is compiled."""
    state = hashlib.sha256()
    for word in words:
        state.update(word.encode() + b"\0")
    for path in closure(source):
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()
