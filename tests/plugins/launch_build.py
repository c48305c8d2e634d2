"""Build the library as for GPUs, but linked to a stub CUDA runtime that records calls.

Everything in the library is real: nvcc compiles csrc as it does for GPUs, including its kernel stubs, their
registration and the code in their fat binaries. Only the runtime is replaced (tests/kernels/csrc/stub_*.cpp), not the
driver below it: with a stub driver, the static runtime would ask for undocumented tables, and the test would exercise
NVIDIA's code and guesswork. The library calls 9 runtime functions, plus those that nvcc's own code calls; the linker
refuses any others. Not covered, therefore: how the runtime finds a GPU's machine code.

Kernels are compiled only to PTX, which the stub can read, for the oldest architecture, where bfloat16 kernels are
empty: they never run on a GPU.
"""

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from emulator_build import KERNELS, ROOT, copy_sources
from kept_files import kept
from pace import for_all

from kernel_build.sources import ARCHITECTURES, FAMILY, closure
from kernel_build.toolchain import Toolchain, run

STUB = ROOT / "tests" / "kernels" / "csrc"
CACHE = ROOT / "build" / "launches"
WORDS = " ".join([*ARCHITECTURES, "compute_120", FAMILY])
CODE = ("-gencode=arch=compute_75,code=compute_75", "-no-compress")  # PTX that the stub can read
SANITIZED = "-Xcompiler=-fsanitize=undefined,-fno-sanitize-recover=all"  # undefined behaviour ends the test run
FLAGS = ("-std=c++17", "-O1", "-Xcompiler=-fPIC,-fvisibility=hidden", SANITIZED, "-Werror=all-warnings", *CODE)
DEFINED = ("-DMZT_BUILDING", '-DMZT_VERSION="0.1.0"', f'-DMZT_ARCHITECTURES="{WORDS}"')
# Covers every way of launching: all kinds, slices, extra shared memory, weights of 8 and 4 bits.
SOME = (
    *("attention/bfloat16_64", "attention/bfloat16_512", "backward/backward_bfloat16_64"),
    *("backward/backward_bfloat16_512", "gemm/float16_int4", "gemm/float16_w4a4", "gemm/float16_svdquant"),
    *("gemm/float16_codebook", "gemm/bfloat16_int8", "gemm/bfloat16_fp8", "gemm/float16_gated"),
    *("gemm/bfloat16_split", "gemm/bfloat16_convolution", "block_scaled/float16"),
    *("attention/hopper_bfloat16_64", "attention/hopper_bfloat16_96"),
)


def some_sources(folder: Path) -> Path:
    """Copy the kernel sources with a few instance files."""
    return copy_sources(folder, SOME)


@for_all()
def build(toolchain: Toolchain, folder: Path = KERNELS) -> Path:
    """Build the library from the kernel sources in `folder` with the stub; objects are cached by contents."""
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
    """Return a source and its includes; for the stub's own sources, simply all headers of the library."""
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
