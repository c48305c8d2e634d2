"""What the doctor finds out, with every probe answered by the test."""

import dataclasses
import sys

import pytest
from fake_engine import DEVICE, FakeCatalog, model_info

from mezzotint.cli.doctor.kernels import KernelReport
from mezzotint.cli.doctor.report import Probes, TorchFacts, examine, has_nvidia_card, torch_facts
from mezzotint.dispatch.library import LibraryFacts
from mezzotint.protocol import DeviceInfo

CUDA = DeviceInfo(id="cuda:0", name="Card", memory_bytes=8 << 30)
SOUND = Probes(
    torch=lambda: TorchFacts(version="2.13.0", cuda="12.6", devices=(CUDA, DEVICE)),
    nvidia_card=lambda: True,
    kernels=lambda devices: KernelReport(library=LibraryFacts(installed=True, version="0.1.0")),
    versions=lambda: dict.fromkeys(("torch", "diffusers", "transformers", "safetensors", "pillow"), "2.13.0"),
    system_libraries=tuple,
    installed=lambda name: True,
    free=lambda path: 10 << 30,
)


def warnings(models=(), **changes):
    return examine(FakeCatalog(models), dataclasses.replace(SOUND, **changes)).warnings


def fail(error):
    def probe(*_):
        raise error

    return probe


def test_a_sound_machine_has_no_warnings():
    assert warnings() == ()


def test_a_card_that_torch_is_not_built_for_gets_the_command_that_helps():
    (warning,) = warnings(torch=lambda: TorchFacts(version="2.13.0+cpu", cuda=None, devices=(DEVICE,)))
    assert f"{sys.executable} -m pip install --force-reinstall torch==2.13.0 --index-url https://" in warning


def test_a_card_that_the_driver_does_not_show_gets_other_advice():
    (warning,) = warnings(torch=lambda: TorchFacts(version="2.13.0", cuda="12.6", devices=(DEVICE,)))
    assert "update the card's driver" in warning


def test_no_card_needs_no_cuda():
    none = TorchFacts(version="2.13.0+cpu", cuda=None, devices=(DEVICE,))
    assert warnings(torch=lambda: none, nvidia_card=lambda: False) == ()


@pytest.mark.parametrize("error", [ImportError("no torch"), OSError("libcudart.so.12"), RuntimeError("driver")])
def test_a_torch_that_does_not_load_is_a_warning(error):
    (warning,) = warnings(torch=fail(error))
    assert str(error) in warning


def test_missing_libraries_are_one_warning():
    (warning,) = warnings(torch=fail(ModuleNotFoundError("No module", name="torch")), versions=lambda: {"pillow": "1"})
    assert "missing: torch, diffusers, transformers, safetensors)" in warning


def test_libraries_that_a_window_lacks_are_named_with_their_packages():
    (warning,) = warnings(system_libraries=lambda: ("libxcb-icccm.so.4",))
    assert "window cannot open for want of libxcb-icccm.so.4" in warning


def test_an_installed_program_has_its_build_chosen_in_the_window(monkeypatch):
    monkeypatch.setattr("mezzotint.cli.doctor.report.has_bootstrap", lambda: True)
    (warning,) = warnings(torch=lambda: TorchFacts(version="2.13.0+cpu", cuda=None, devices=(DEVICE,)))
    assert "window's settings" in warning and "pip" not in warning


def test_a_full_disk_and_a_lost_folder_are_warnings():
    assert any("little disk space" in warning for warning in warnings(free=lambda path: 1 << 20))
    assert "a folder is gone" in warnings(models=[model_info()])


def test_a_disk_that_does_not_say_is_no_warning():
    assert warnings(free=fail(OSError("not supported"))) == ()


@pytest.mark.parametrize(
    ("program", "there", "expected"),
    [
        (None, (), False),
        ("/usr/bin/nvidia-smi", (), True),
        (None, ("/proc/driver/nvidia/version",), True),
    ],
)
def test_a_card_is_found_by_its_driver(monkeypatch, program, there, expected):
    monkeypatch.delenv("SYSTEMROOT", raising=False)
    assert has_nvidia_card(which=lambda name: program, exists=there.__contains__) is expected


def test_a_card_is_found_on_windows(monkeypatch):
    monkeypatch.setenv("SYSTEMROOT", "C:\\Windows")
    assert has_nvidia_card(which=lambda name: None, exists=lambda path: path.endswith("nvml.dll"))


BROKEN = LibraryFacts(installed=True, problem="the driver is too old: update it")


def test_kernels_that_a_card_could_use_and_cannot_are_a_warning():
    (warning,) = warnings(kernels=lambda devices: KernelReport(library=BROKEN))
    assert "CUDA kernels cannot be used" in warning and "update it" in warning
    failed = KernelReport(
        library=LibraryFacts(installed=True),
        self_tests={"cuda:0 int8 float16": "it is off"},
        failed=("cuda:0 int8 float16",),
    )
    (warning,) = warnings(kernels=lambda devices: failed)
    assert warning == "the CUDA kernels are not used for cuda:0 int8 float16: it is off"


def test_kernels_that_nobody_installed_or_no_card_could_use_are_no_warning():
    assert warnings(kernels=lambda devices: KernelReport(library=LibraryFacts(problem="not installed"))) == ()
    none = TorchFacts(version="2.13.0", cuda=None, devices=(DEVICE,))
    broken = KernelReport(library=BROKEN)
    assert warnings(torch=lambda: none, nvidia_card=lambda: False, kernels=lambda devices: broken) == ()


def test_the_self_tests_run_on_what_torch_finds():
    seen = []

    def kernels(devices):
        seen.append([device.id for device in devices])
        return KernelReport(library=LibraryFacts())

    warnings(kernels=kernels)
    warnings(kernels=kernels, torch=fail(ImportError("no torch")))
    assert seen == [["cuda:0", "cpu"], []]


def test_the_real_torch_has_a_processor():
    facts = torch_facts()
    assert facts.devices[-1].id == "cpu"
