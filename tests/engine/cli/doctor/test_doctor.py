"""`mezzotint doctor` tells its report; warnings are no failure."""

import argparse
import dataclasses
from typing import Any

from fake_engine import DEVICE, FakeCatalog, model_info

from mezzotint.cli.context import Context
from mezzotint.cli.doctor.doctor import run
from mezzotint.cli.doctor.kernels import KernelReport
from mezzotint.cli.doctor.report import DoctorReport, Probes, TorchFacts
from mezzotint.cli.terminal import Terminal
from mezzotint.codec import from_json
from mezzotint.dispatch.library import LibraryFacts
from mezzotint.protocol import DeviceInfo

TORCH = TorchFacts(version="2.13.0+cpu", cuda=None, devices=(DEVICE,))
KERNELS = KernelReport(
    library=LibraryFacts(installed=True, version="0.1.0", abi=1, architectures=("sm_80", "sm_90a"), driver="13.0"),
    self_tests={"cuda:0 flash bfloat16": "passed 6 cases"},
    usable=("flash", "sdpa", "reference"),
    products_problem=None,
)
PROBES = Probes(
    torch=lambda: TORCH,
    nvidia_card=lambda: True,
    kernels=lambda devices: KERNELS,
    versions=lambda: dict.fromkeys(("torch", "diffusers", "transformers", "safetensors", "pillow"), "2.13.0"),
    system_libraries=tuple,
    installed=lambda name: False,
    free=lambda path: 10 << 30,
)


def tell(stream, json, probes=PROBES, models=()):
    terminal: Any = Terminal(stream(), stream())
    context = Context(terminal=terminal, make_catalog=lambda folders: FakeCatalog(models))
    assert run(argparse.Namespace(json=json, models_folder=[], repair=False), context, probes) == 0
    return terminal.stdout.getvalue()


def test_it_tells_what_is_here_and_what_is_missing(stream):
    told = tell(stream, False, models=[model_info(), model_info(problem="no")])
    for words in ("Slow and steady, 1.0 GB", "1, and 1 refused", "10.0 GB free", "not installed (optional"):
        assert words in told
    assert "warning: an NVIDIA card is present, but torch 2.13.0+cpu is built without CUDA" in told
    assert "no problems found" not in told


def test_it_tells_of_the_kernels(stream):
    lines = [" ".join(line.split()) for line in tell(stream, False).splitlines()]
    for line in (
        "attention flash, sdpa, reference",
        "quantized matmul kernels",
        "CUDA kernels 0.1.0, ABI 1",
        "compiled for sm_80 sm_90a",
        "NVIDIA driver CUDA 13.0",
        "self-test cuda:0 flash bfloat16 passed 6 cases",
    ):
        assert line in lines


def test_it_tells_why_there_are_no_kernels(stream):
    absent = KernelReport(library=LibraryFacts(problem="not installed: run make kernels"))
    told = tell(stream, False, dataclasses.replace(PROBES, kernels=lambda devices: absent))
    assert "not installed: run make kernels" in told and "torch: no device here" in told
    old = KernelReport(library=LibraryFacts(installed=True, version="0.1.0", abi=1, problem="the driver is too old"))
    told = tell(stream, False, dataclasses.replace(PROBES, kernels=lambda devices: old))
    assert "not usable" in told and "the driver is too old" in told


def test_it_tells_what_devices_of_other_makers_lack(stream):
    apple = DeviceInfo(id="mps", name="Apple GPU", memory_bytes=10 << 30)
    facts = TorchFacts(version="2.13.0", cuda=None, devices=(apple,), lacks={"mps": ("page-locked memory",)})
    assert "Apple GPU, 10.0 GB, without page-locked memory" in tell(
        stream, False, dataclasses.replace(PROBES, torch=lambda: facts)
    )
    amd = TorchFacts(
        version="2.13.0", cuda=None, devices=(DeviceInfo(id="cuda:0", name="RX", memory_bytes=1),), rocm="7.0"
    )
    old = KernelReport(library=LibraryFacts(installed=True, problem="the driver is too old"))
    told = tell(stream, False, dataclasses.replace(PROBES, torch=lambda: amd, kernels=lambda devices: old))
    assert "torch's ROCm" in told and "torch's CUDA" not in told
    assert "warning: the CUDA kernels cannot be used" not in told


def test_without_trouble_it_says_so(stream):
    assert tell(stream, False, dataclasses.replace(PROBES, nvidia_card=lambda: False)).endswith("no problems found\n")


def test_json_is_the_report(stream):
    report = from_json(DoctorReport, tell(stream, True))
    assert report.torch == TORCH
    assert len(report.warnings) == 1
