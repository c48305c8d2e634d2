"""The local GPU, the version of the project measured on it, and the environment of the parts."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.sources import ARCHITECTURES, KERNELS

ROOT = KERNELS.parent
STUB = "stub"  # device name if there is no GPU
_SEEN = ("engine", "kernels", "tests/plugins", "tests/kernels/csrc")  # files that affect a measurement
_KINDS = {".py", ".cu", ".h", ".cpp", ".json", ".txt", ".map"}
_CARD = """
import json, torch
here = torch.cuda.is_available()
card = torch.cuda.get_device_properties(0) if here else None
told = {"name": card.name, "capability": (card.major, card.minor), "multiprocessors": card.multi_processor_count} \
    if here else {"name": None}
print(json.dumps(told | {"torch": torch.__version__, "cuda": torch.version.cuda}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The GPU that is measured, or a stub that stands in for one."""

    name: str
    capability: tuple[int, int] | None
    torch: str
    cuda: str | None
    multiprocessors: int | None = None  # absent from results of older versions

    @property
    def is_stub(self) -> bool:
        """Whether this is a stub without a GPU."""
        return self.name == STUB


def find_device(stub: bool, seconds: float) -> Device:
    """Query torch for its first GPU. Raises BuildError if there is none, unless `stub` is set."""
    told = json.loads(run_python(["-c", _CARD], seconds))
    if stub:
        return Device(name=STUB, capability=None, torch=told["torch"], cuda=None)
    if told["name"] is None:
        raise BuildError("torch sees no CUDA device here: gpu-check needs one (see nvidia-smi), or ARGS=--stub")
    major, minor = told["capability"]
    return Device(
        name=told["name"],
        capability=(major, minor),
        torch=told["torch"],
        cuda=told["cuda"],
        multiprocessors=told["multiprocessors"],
    )


def architecture_for(capability: tuple[int, int]) -> str:
    """Return CMake's name of the architecture: the one we compile for if there is one, else the GPU's own."""
    number = f"{capability[0]}{capability[1]}"
    ours = [name.removeprefix("sm_") for name in ARCHITECTURES if name.removeprefix("sm_").rstrip("a") == number]
    return f"{(ours or [number])[0]}-real"


def find_commit(environment: Mapping[str, str] = os.environ, root: Path = ROOT) -> str:
    """Return the output of git describe, or COMMIT; adds a digest of the sources if that does not identify them."""
    words = ["git", "-c", "safe.directory=*", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=10"]
    said = environment.get("COMMIT", "")
    with contextlib.suppress(OSError):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        said = done.stdout.strip() if done.returncode == 0 else said
    if said and not said.endswith("-dirty"):
        return said
    return f"{said} sources {sources_digest(root)}".strip()


def sources_digest(root: Path = ROOT) -> str:
    """Return a digest of the sources of the engine, the kernels and their tests."""
    state = hashlib.sha256()
    for folder in _SEEN:
        for path in sorted(root.joinpath(folder).rglob("*")):
            if path.suffix in _KINDS:
                state.update(path.relative_to(root).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()[:10]


def environment_with(library: Path | None) -> dict[str, str]:
    """Return the environment in which Python finds the engine and the library just built."""
    path = os.pathsep.join(str(ROOT / name) for name in ("engine", "kernels", "tests/plugins"))
    named = {} if library is None else {"MEZZOTINT_KERNELS_LIBRARY": str(library)}
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", **named}


def built_library(folder: Path) -> Path:
    """Return the library in a CMake build folder. Raises BuildError if there is none."""
    found = next((each for each in folder.glob("*mezzotint_kernels.*") if each.suffix in {".so", ".dll"}), None)
    if found is None:
        raise BuildError(f"no library was built in {folder}")
    return found


def run_python(words: Sequence[str], seconds: float) -> str:
    """Run a short program with this Python and return its output. Raises BuildError with its last line if it fails."""
    try:
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{sys.executable} did not import torch within {seconds:.0f} seconds; try again") from None
    if done.returncode:
        raise BuildError(f"{sys.executable} cannot be used: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return done.stdout
