"""Which device a process trains on."""

import pytest

from mezzotint import machine
from mezzotint.errors import NoDevice, UsageError
from mezzotint.jobs.training.preparing import device_of
from mezzotint.protocol import DeviceInfo
from mezzotint.training.distributed import ALONE, Processes
from mezzotint.training_protocol import TrainingSettings

SECOND = Processes(rank=3, local_rank=1, count=4)


@pytest.fixture(autouse=True)
def cards(monkeypatch):
    found = tuple(DeviceInfo(id=name, name=name, memory_bytes=1) for name in ("cuda:0", "cuda:1", "cpu"))
    monkeypatch.setattr(machine, "devices", lambda: found)


@pytest.mark.parametrize(
    ("settings", "processes", "expected"),
    [
        ({}, ALONE, "cuda:0"),
        ({"device": "cpu"}, ALONE, "cpu"),
        ({"device": "1"}, ALONE, "cuda:1"),
        ({"devices": ("1", "0")}, ALONE, "cuda:1"),
        ({"devices": ("1", "0")}, SECOND, "cuda:0"),
        ({"devices": ("cuda:0", "cpu")}, SECOND, "cpu"),
        ({}, SECOND, "cuda:1"),  # as torchrun starts it
        ({"device": "cpu"}, SECOND, "cpu"),
    ],
)
def test_each_process_has_its_own(settings, processes, expected):
    assert device_of(TrainingSettings(**settings), processes).id == expected


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(NoDevice, match="there is no device 'cuda:7'"):
        device_of(TrainingSettings(devices=("0", "7")), SECOND)
    with pytest.raises(UsageError, match="more processes on this machine than devices: 0"):
        device_of(TrainingSettings(devices=("0",)), SECOND)


def test_on_a_cpu_processes_share_it(monkeypatch):
    monkeypatch.setattr(machine, "devices", lambda: (DeviceInfo(id="cpu", name="", memory_bytes=1),))
    assert device_of(TrainingSettings(), SECOND).id == "cpu"
