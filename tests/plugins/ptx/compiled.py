"""The kernels' PTX, compiled by nvcc for one architecture; cached by contents."""

import tempfile
from pathlib import Path

import torch
from emulator_build import copy_sources
from kept_files import kept
from pace import for_all

from kernel_build.sources import CSRC, OUTPUT, digest
from kernel_build.toolchain import Toolchain, run

CACHE = OUTPUT / "ptx"
# The flags of CMake's release build.
FLAGS = ("-std=c++17", "-O3", "-DNDEBUG", "-ptx")
FORMATS = {torch.float16: "float16", torch.bfloat16: "bfloat16"}  # in the sources
NAMES = {torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"}  # in the PTX


@for_all()
def ptx_of(toolchain: Toolchain, source: str, architecture: str, instances: tuple[str, ...] = ()) -> str:
    """Return the PTX of a source in csrc; of an instance file, only the lines that contain one of `instances`."""
    words = (toolchain.version, *FLAGS, architecture, *instances)
    name = f"{Path(source).stem}.{architecture}.{digest(CSRC / source, words)[:24]}.ptx"
    return kept(CACHE / name, lambda fresh: _compile(toolchain, source, architecture, instances, fresh)).read_text(
        "utf-8"
    )


def _compile(toolchain: Toolchain, source: str, architecture: str, instances: tuple[str, ...], target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = _trimmed(Path(folder) / "kernels", source, instances)
        run([toolchain.nvcc, *FLAGS, f"-arch={architecture}", "-o", target, copy], f"nvcc, on {source}")


def _trimmed(folder: Path, source: str, instances: tuple[str, ...]) -> Path:
    """Return a copy of the source with only the requested instances."""
    path = Path(source)
    named = [f"{path.parents[1].name}/{path.stem}"]
    copy_sources(folder, named, lambda line: any(f" {each}(" in line for each in instances))
    return folder / "csrc" / source
