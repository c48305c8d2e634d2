"""Find CUDA's compiler and disassembler: the packages pinned in constraints.txt, or the system's."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_build.errors import BuildError

VARIABLE = "NVCC"
INSTALL = "pip install -c constraints.txt -e '.[kernels]', or name a CUDA compiler in NVCC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """The CUDA programs; nvdisasm and cuobjdump are None if not installed."""

    nvcc: Path
    version: str  # such as 13.0.88
    nvdisasm: Path | None
    cuobjdump: Path | None

    @property
    def link_folders(self) -> tuple[Path, ...]:
        """Folder of the static runtime if nvcc would not find it: its packages name it lib, nvcc expects lib64."""
        folder = self.nvcc.resolve().parents[1] / "lib"
        return (folder,) if (folder / "libcudart_static.a").is_file() else ()


def find_toolchain(
    environment: Mapping[str, str] = os.environ, packages: Sequence[Path] | None = None, windows: bool = os.name == "nt"
) -> Toolchain:
    """Return what NVCC names, else the installed packages, CUDA_HOME, or PATH, in this order."""
    folders = list(_package_folders() if packages is None else packages)
    system = [Path(environment[name]) / "bin" for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]
    places = [*folders, *system]
    suffix = ".exe" if windows else ""
    path = environment.get("PATH")
    named = environment.get(VARIABLE)
    if named and not Path(named).is_file():
        raise BuildError(f"{VARIABLE} is {named!r}, and no such file is there: correct or unset it")
    nvcc = Path(named) if named else _program(f"nvcc{suffix}", places, path)
    if nvcc is None:
        raise BuildError(f"there is no CUDA compiler here: {INSTALL}")
    beside = [nvcc.resolve().parent, *places]
    return Toolchain(
        nvcc=nvcc,
        version=_version(nvcc),
        nvdisasm=_program(f"nvdisasm{suffix}", beside, path),
        cuobjdump=_program(f"cuobjdump{suffix}", beside, path),
    )


def run(words: Iterable[str | Path], what: str) -> str:
    """Run a program and return its output. Raises BuildError with the output if it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    if done.returncode:
        raise BuildError(f"{what} failed:\n{said.strip()}")
    return said


def _package_folders() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    roots = spec.submodule_search_locations if spec else None
    return [Path(root) / "cu13" / "bin" for root in roots or ()]


def _program(name: str, places: Iterable[Path], path: str | None) -> Path | None:
    for place in places:
        if (place / name).is_file():
            return place / name
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def _version(nvcc: Path) -> str:
    said = run([nvcc, "--version"], str(nvcc))
    match = re.search(r"\bV(\d+\.\d+\.\d+)", said)
    if match is None:
        raise BuildError(f"{nvcc} does not say its version; it says: {said.strip()[:200]}")
    return match[1]
