"""Build the library with CMake into build/kernels, where mezzotint_kernels finds it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.sources import KERNELS, OUTPUT
from kernel_build.toolchain import INSTALL, Toolchain

FOLDER = OUTPUT / "kernels"


def build_library(
    toolchain: Toolchain,
    *,
    architectures: str | None = None,
    jobs: int | None = None,
    folder: Path = FOLDER,
    seconds: float | None = None,
    sweep: bool = False,
) -> None:
    """Configure and compile incrementally; the compiler's output goes to the terminal.

    With `sweep`, the library can also run instances by number.
    """
    end = None if seconds is None else time.monotonic() + seconds  # for both steps
    _run([*configure_words(toolchain, architectures, folder), f"-DMZT_SWEEP={'ON' if sweep else 'OFF'}"], end)
    _run([_tool("cmake"), "--build", str(folder), "--parallel", str(jobs or os.cpu_count() or 1)], end)


def configure_words(toolchain: Toolchain, architectures: str | None, folder: Path) -> list[str]:
    """Return the cmake configure command."""
    flags = " ".join(f'-L"{path}"' for path in toolchain.link_folders)
    words = [
        *(_tool("cmake"), "-S", str(KERNELS), "-B", str(folder), "-G", "Ninja", "--log-level=NOTICE"),
        f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}",
        f"-DCMAKE_CUDA_COMPILER={toolchain.nvcc}",
        f"-DCMAKE_CUDA_FLAGS={flags}",
    ]
    # Without -U, CMake would reuse the architectures of an earlier call.
    return [*words, f"-DCMAKE_CUDA_ARCHITECTURES={architectures}" if architectures else "-UCMAKE_CUDA_ARCHITECTURES"]


def _tool(name: str) -> str:
    """Return a program's path, preferring the environment of this Python over PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise BuildError(f"there is no {name} here: {INSTALL}")
    return found


def _run(words: Sequence[str], end: float | None) -> None:
    left = None if end is None else max(0.0, end - time.monotonic())
    try:
        status = subprocess.run(words, timeout=left, check=False).returncode
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{Path(words[0]).name} took longer than the {left:.0f} seconds that were left") from error
    if status:
        raise BuildError(f"{Path(words[0]).name} failed with status {status}; its reason is above")
