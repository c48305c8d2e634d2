"""The kernels on the emulator and as PTX, compiled once for all that ask for them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from emulated_kernels import Emulator
from emulator_build import LEFT_OUT, build
from ptx.compiled import ptx_of

from kernel_build.errors import BuildError
from kernel_build.toolchain import find_toolchain


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
def ptx() -> Callable[..., str]:
    """What nvcc makes of a source for an architecture, of some of its instances."""
    try:
        return partial(ptx_of, find_toolchain())
    except BuildError as error:
        pytest.skip(str(error))
