"""Networks that are settled anew for another job: what is page-locked remains so."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency
from mezzotint.protocol import PlannedComponent
from mezzotint.stages import workroom

MB = 2**20


class Locker:
    def __init__(self):
        self.locked = []

    def lock(self, address, size):
        self.locked.append((address, size))
        return True

    def unlock(self, address):
        self.locked[:] = [each for each in self.locked if each[0] != address]


@pytest.fixture
def locker(monkeypatch):
    made = Locker()
    monkeypatch.setattr(workroom, "CudaLocker", lambda: made)
    return made


@pytest.fixture
def residency():
    made = Residency(open_device(torch.device("cpu"), cap=8 * MB, simulated=True, reading=False))
    yield made
    made.clear()
    made.device.close()


@pytest.fixture
def settled(monkeypatch, residency, locker):
    """Settle a network of six blocks with so many that stay; the network as it is then."""
    monkeypatch.setattr(workroom, "blocks_of", lambda network: [str(index) for index in range(6)])
    monkeypatch.setattr(workroom, "network_key", lambda model, name: name)
    network = nn.Sequential(*[nn.Linear(64, 64) for _ in range(6)]).requires_grad_(False)
    model = SimpleNamespace(networks={"unet": network}, on_disk={}, device=torch.device("cuda"))

    def settle(resident, host="pinned"):
        part = PlannedComponent(
            model="m",
            name="unet",
            quantization="none",
            bytes=6 * 64 * 65 * 4,
            blocks=6,
            resident_blocks=resident,
            slots=2,
            device_bytes=0,
            host=host,
            phases=(),
        )
        workroom._settle(residency, model, part, 8 * MB)
        return residency["unet"]

    return settle


def test_more_that_stay_than_planned_are_no_reason_to_lock_anew(settled, residency, locker):
    network = settled(2)
    before = list(locker.locked)
    assert before
    with residency.phase({"unet"}):
        assert network.promote(3)
    again = settled(2)
    assert again is network
    assert (again.resident, again.slots, again.entered) == (2, 2, False)
    assert locker.locked == before
    assert all(weight.source.at_once for weight in again.weights)


def test_another_plan_takes_the_network_as_it_lies(settled, locker):
    network = settled(2)
    before = list(locker.locked)
    assert settled(4) is network
    assert network.resident == 4
    assert locker.locked == before


def test_a_plan_without_locked_pages_lets_go_of_them(settled, locker):
    settled(2)
    assert locker.locked
    network = settled(4, host="ram")
    assert locker.locked == [] and network.pinned_bytes == 0


def test_a_network_that_is_there_as_planned_stays(settled, residency):
    settled(2)
    with residency.phase({"unet"}):
        assert settled(2).entered
