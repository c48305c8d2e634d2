"""A library whose API is the real one, and whose CUDA and kernels are whatever a test says."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from attention_arguments import attention_args

from mezzotint_kernels.library import Library

ROOT = Path(__file__).parents[2]
CSRC = ROOT / "kernels" / "csrc"
STAND_IN = Path(__file__).parent / "csrc" / "stand_in.cpp"
ARCHITECTURES = "sm_75 sm_80 sm_86 sm_89 sm_90a sm_100 sm_120 compute_120 sm_120f"


class StandIn(ctypes.Structure):
    """What the stand-in answers, and what it was asked; the struct of stand_in.cpp."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("driver_version", "device_count", "count_error", "current_device")),
        *((name, ctypes.c_int) for name in ("major", "minor", "attributes_error", "name_error")),
        *((name, ctypes.c_int) for name in ("supported", "workspace_bytes", "launch_error")),
        *((name, ctypes.c_int) for name in ("attribute_calls", "plans", "launches", "architecture", "kernel")),
        ("nq", ctypes.c_longlong),
        ("stream", ctypes.c_void_p),
    )


def build_stand_in(folder: Path) -> Path:
    path = folder / "libstand_in.so"
    entries = sorted(CSRC.rglob("api/*.cpp"))
    sources = [CSRC / "api.cpp", *entries, CSRC / "group_norm" / "plan.cpp", STAND_IN]
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", f"-I{CSRC}"]
    flags += ["-fsanitize=undefined", "-fno-sanitize-recover=all"]  # an overflow in the checks ends the test run
    flags += ['-DMZT_VERSION="0.1.0"', f'-DMZT_ARCHITECTURES="{ARCHITECTURES}"', "-DMZT_BUILDING"]
    flags += [f"-Wl,--version-script={CSRC / 'exports.map'}", "-Wl,--no-undefined"]
    subprocess.run(["g++", *flags, "-o", path, *sources], check=True)
    return path


@pytest.fixture(scope="session")
def built_stand_in(tmp_path_factory):
    return build_stand_in(tmp_path_factory.mktemp("stand_in"))


@pytest.fixture
def stand_in_path(built_stand_in, tmp_path):
    """A library that remembers nothing of other tests: to the system's loader a copy is another one."""
    return Path(shutil.copyfile(built_stand_in, tmp_path / built_stand_in.name))


@pytest.fixture
def stand_in(stand_in_path):
    """A driver for CUDA 13.0 with one card of compute capability 8.9 and a kernel for everything, each time anew."""
    handle = ctypes.CDLL(str(stand_in_path))
    handle.mzt_stand_in.restype = ctypes.POINTER(StandIn)
    state = handle.mzt_stand_in().contents
    ctypes.memset(ctypes.byref(state), 0, ctypes.sizeof(state))
    state.driver_version, state.device_count, state.major, state.minor, state.supported = 13000, 1, 8, 9, 1
    return state


@pytest.fixture
def library(stand_in_path, stand_in):
    return Library(stand_in_path)


@pytest.fixture
def args():
    """Arguments that are well; tensors are (batch 2, 4 heads or 2, tokens, 64) one after the other, never read."""
    return attention_args()


@pytest.fixture(scope="session")
def root():
    return ROOT
