"""The kernels' PTX, as nvcc writes it for one architecture; remembered by what it is made of."""

import os
import shutil
import tempfile
from pathlib import Path

import torch
from emulator_build import alone, copy_sources

from kernel_build.sources import CSRC, OUTPUT, digest
from kernel_build.toolchain import Toolchain, run

CACHE = OUTPUT / "ptx"
# As CMake compiles a release.
FLAGS = ("-std=c++17", "-O3", "-DNDEBUG", "-ptx")
FORMATS = {torch.float16: "float16", torch.bfloat16: "bfloat16"}  # in the sources
NAMES = {torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"}  # in the PTX


def ptx_of(toolchain: Toolchain, source: str, architecture: str, instances: tuple[str, ...] = ()) -> str:
    """The PTX of a source below csrc; where it is a file of instances, of those lines alone that hold one of these."""
    words = (toolchain.version, *FLAGS, architecture, *instances)
    kept = CACHE / f"{Path(source).stem}.{architecture}.{digest(CSRC / source, words)[:24]}.ptx"
    if not kept.exists():
        with alone(kept):
            if not kept.exists():
                _compile(toolchain, source, architecture, instances, kept)
    return kept.read_text("utf-8")


def _compile(toolchain: Toolchain, source: str, architecture: str, instances: tuple[str, ...], kept: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.ptx"
        copy = _trimmed(Path(folder) / "kernels", source, instances)
        run([toolchain.nvcc, *FLAGS, f"-arch={architecture}", "-o", made, copy], f"nvcc, on {source}")
        _keep(made, kept)


def _trimmed(folder: Path, source: str, instances: tuple[str, ...]) -> Path:
    """The source in a copy that has none but the wanted instances."""
    part, name = Path(source).parts[0], Path(source).stem
    copy_sources(folder, [f"{part}/{name}"], lambda line: any(f" {each}(" in line for each in instances))
    return folder / "csrc" / source


def _keep(made: Path, kept: Path) -> None:
    """Put a file in its place at once; another process may do the same at the same time."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    fresh = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.copyfile(made, fresh)
    fresh.replace(kept)
