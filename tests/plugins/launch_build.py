"""Builds the library as it is for cards, down to where it asks CUDA: there it meets a stub that remembers.

All of the library is real: nvcc compiles csrc as it does for cards, so that its stubs of kernels, their registration
and the code in their fat binaries are there. What is not is the runtime (tests/kernels/csrc/stub_*.cpp), and not the
driver below it: over a stub of the driver, the static runtime would ask for tables that are documented nowhere, and the
test would be of NVIDIA's work and a guess. What the library asks for ends at the runtime: 8 functions, and those that
nvcc's own code calls. The linker refuses any other. Left out, therefore: how the runtime finds a card's machine code.

Kernels are compiled to PTX alone, which the stub can read, for the oldest architecture, where bfloat16 is empty: no
card ever runs them.
"""

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from emulator_build import KERNELS, ROOT, copy_sources
from kept_files import kept

from kernel_build.sources import ARCHITECTURES, closure
from kernel_build.toolchain import Toolchain, run

STUB = ROOT / "tests" / "kernels" / "csrc"
CACHE = ROOT / "build" / "launches"
WORDS = " ".join([*ARCHITECTURES, "compute_120"])
CODE = ("-gencode=arch=compute_75,code=compute_75", "-no-compress")  # PTX that the stub can read
SANITIZED = "-Xcompiler=-fsanitize=undefined,-fno-sanitize-recover=all"  # an overflow ends the test run
FLAGS = ("-std=c++17", "-O1", "-Xcompiler=-fPIC,-fvisibility=hidden", SANITIZED, "-Werror=all-warnings", *CODE)
DEFINED = ("-DMZT_BUILDING", '-DMZT_VERSION="0.1.0"', f'-DMZT_ARCHITECTURES="{WORDS}"')
# Every way of launching: all kinds, slices, more shared memory than is given unasked, weights of 8 and 4 bits.
SOME = ("attention/bfloat16_64", "attention/bfloat16_512", "gemm/float16_int4", "gemm/bfloat16_int8")


def some_sources(folder: Path) -> Path:
    """A copy of the kernels' sources with the instances of a few files."""
    return copy_sources(folder, SOME)


def build(toolchain: Toolchain, folder: Path = KERNELS) -> Path:
    """The library of the kernel sources in `folder` with the stub; objects are remembered by what they are made of."""
    compiled = [path for path in (folder / "csrc").rglob("*") if path.suffix in {".cpp", ".cu"}]
    sources = [*sorted(compiled), *sorted(STUB.glob("stub_*.cpp"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: _object(toolchain, source, folder), sources))
    library = CACHE / f"{_name_of(path.name.encode() for path in objects)}.so"
    exports = f"-Xlinker=--version-script={folder / 'csrc' / 'exports.map'},--no-undefined"
    return _make(toolchain, library, "-shared", "-cudart=none", SANITIZED, exports, *map(str, objects))


def _object(toolchain: Toolchain, source: Path, folder: Path) -> Path:
    words = (*FLAGS, *DEFINED, f"-I{folder / 'csrc'}")
    kept = [toolchain.version, *FLAGS, *DEFINED]
    contents = [path.name.encode() + path.read_bytes() for path in _made_of(source, folder)]
    target = CACHE / f"{source.name}.{_name_of([*(word.encode() for word in kept), *contents])}.o"
    return _make(toolchain, target, *words, "-c", str(source))


def _made_of(source: Path, folder: Path) -> list[Path]:
    """A source and all that it includes; of the stub's own it is not looked up which of the library's headers."""
    if source.is_relative_to(folder):
        return closure(source)
    return [*closure(source), *sorted((folder / "csrc").rglob("*.h"))]


def _name_of(parts: Iterable[bytes]) -> str:
    state = hashlib.sha256()
    for part in parts:
        state.update(hashlib.sha256(part).digest())
    return state.hexdigest()[:24]


def _make(toolchain: Toolchain, target: Path, *words: str) -> Path:
    return kept(target, lambda fresh: run([toolchain.nvcc, *words, "-o", fresh], f"nvcc, for {target.name},"))
