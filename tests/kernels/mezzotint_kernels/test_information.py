"""What `info()` tells, and that it never fails."""

import os
import subprocess
import sys

import pytest

from mezzotint_kernels import info
from mezzotint_kernels.library import VARIABLE
from mezzotint_kernels.library import library as opened

with_compiler = pytest.mark.requires_command("g++", "sudo apt-get install g++")


@with_compiler
def test_a_card_that_can_be_used(in_use, stand_in_path):
    in_use.device_count = 2
    told = info()
    assert told.problem is None
    assert [device.ordinal for device in told.devices] == [0, 1]
    assert str(told).splitlines() == [
        f"library        {stand_in_path}",
        "version        0.1.0 (ABI 1)",
        "architectures  sm_75 sm_80 sm_86 sm_89 sm_90a sm_100 sm_120 compute_120 sm_120f",
        "driver         CUDA 13.0",
        "device 0       Paper Card 0: compute capability 8.9, 46 multiprocessors, 99 KB for a block",
        "device 1       Paper Card 1: compute capability 8.9, 46 multiprocessors, 99 KB for a block",
    ]


@with_compiler
@pytest.mark.parametrize(
    ("state", "lines"),
    [
        ({"driver_version": 0}, ["driver         none", "not usable     there is no NVIDIA driver here"]),
        (
            {"driver_version": 12020, "count_error": 35},
            ["driver         CUDA 12.2", "not usable     the NVIDIA driver is"],
        ),
        (
            {"device_count": 0},
            ["driver         CUDA 13.0", "not usable     the NVIDIA driver (CUDA 13.0) has no device"],
        ),
    ],
)
def test_why_no_kernel_can_run(in_use, state, lines):
    for name, value in state.items():
        setattr(in_use, name, value)
    told = str(info()).splitlines()
    assert [line for line, start in zip(told[3:], lines, strict=True) if not line.startswith(start)] == []


def test_without_a_library_it_says_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.so"))
    opened.cache_clear()
    told = info()
    assert (told.library, told.devices) == (None, ())
    assert str(told).splitlines()[-1].startswith("not usable     MEZZOTINT_KERNELS_LIBRARY is")


def test_the_package_knows_no_torch(root):
    environment = os.environ | {"PYTHONPATH": str(root / "kernels")}
    code = "import sys, mezzotint_kernels as m; m.info(); print({'torch', 'numpy'} & set(sys.modules) != set())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
