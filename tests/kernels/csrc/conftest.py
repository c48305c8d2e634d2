"""The kernels on the emulator and as PTX, and the library over a stub of CUDA: compiled once for all tests."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from emulated_kernels import Emulator
from emulator_build import LEFT_OUT, build
from launch_build import build as build_over_stub
from launch_build import some_sources
from ptx.compiled import ptx_of
from stub_cuda import StubCuda

from kernel_build.errors import BuildError
from kernel_build.toolchain import Toolchain, find_toolchain


@pytest.fixture(scope="session")
def quick_library() -> Path:
    """All kernels, of which some can only be chosen."""
    return build(left_out=LEFT_OUT)


@pytest.fixture(scope="session")
def whole_library() -> Path:
    """All kernels."""
    return build()


@pytest.fixture
def emulated(request: pytest.FixtureRequest) -> Path:
    """What the test needs: a slow one all kernels."""
    slow = request.node.get_closest_marker("slow")
    return request.getfixturevalue("whole_library" if slow else "quick_library")


@pytest.fixture
def emulator(emulated: Path) -> Emulator:
    """Attention on the emulator."""
    return Emulator(emulated)


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """CUDA's compiler."""
    try:
        return find_toolchain()
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def ptx(toolchain: Toolchain) -> Callable[..., str]:
    """What nvcc makes of a source for an architecture, of some of its instances."""
    return partial(ptx_of, toolchain)


@pytest.fixture(scope="session")
def library_over_stub(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of some instances."""
    _require_linux()
    return build_over_stub(toolchain, some_sources(tmp_path_factory.mktemp("stub") / "kernels"))


@pytest.fixture(scope="session")
def whole_library_over_stub(toolchain: Toolchain) -> Path:
    """The library of all instances."""
    _require_linux()
    return build_over_stub(toolchain)


@pytest.fixture
def cuda(request: pytest.FixtureRequest, tmp_path: Path) -> StubCuda:
    """A library that has asked nothing yet, and a driver with one card; a slow test gets all instances."""
    slow = request.node.get_closest_marker("slow")
    return StubCuda(request.getfixturevalue("whole_library_over_stub" if slow else "library_over_stub"), tmp_path)


def _require_linux() -> None:
    if sys.platform != "linux":
        pytest.skip("the stub of CUDA is linked as Linux does it")
