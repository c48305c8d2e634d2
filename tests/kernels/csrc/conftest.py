"""The emulator, built once for all that ask for it."""

import pytest
from emulated_kernels import Emulator
from emulator_build import build


@pytest.fixture(scope="session")
def emulator():
    return Emulator(build())
