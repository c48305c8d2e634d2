"""The kernels on the emulator, compiled once for all that ask for them."""

from pathlib import Path

import pytest
from emulated_kernels import Emulator
from emulator_build import LEFT_OUT, build


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
