"""Networks that are settled anew for another job: what is page-locked remains so."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency
from mezzotint.protocol import PlannedComponent
from mezzotint.stages.models import model_cache

MB = 2**20
SIZE = 6 * 64 * 65 * 4


class Locker:
    def __init__(self):
        self.locked = []

    def lock(self, address, size):
        self.locked.append((address, size))
        return True

    def unlock(self, address):
        self.locked[:] = [each for each in self.locked if each[0] != address]


@pytest.fixture
def locker():
    return Locker()


@pytest.fixture
def residency():
    made = Residency(open_device(torch.device("cpu"), cap=8 * MB, simulated=True, reading=False))
    yield made
    made.clear()
    made.device.close()


@pytest.fixture
def settled(monkeypatch, residency, locker):
    """Settle a network of six blocks with so many that stay; the network as it is then."""
    monkeypatch.setattr(model_cache, "blocks_of", lambda network: [str(index) for index in range(6)])
    monkeypatch.setattr(model_cache, "network_key", lambda model, name: name)
    network = nn.Sequential(*[nn.Linear(64, 64) for _ in range(6)]).requires_grad_(False)
    model = SimpleNamespace(networks={"unet": network}, on_disk={}, device=torch.device("cuda"))

    def settle(resident, pinned=None):
        part = PlannedComponent(
            model="m",
            name="unet",
            quantization="none",
            bytes=SIZE,
            blocks=6,
            resident_blocks=resident,
            slots=2,
            device_bytes=0,
            host="ram",
            phases=(),
            pinned_bytes=SIZE if pinned is None else pinned,
        )
        model_cache._arrange(residency, model, part)
        residency.lock({"unet": model_cache._to_lock(part)}, 8 * MB, locker)
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
    assert all(weight.source.supports_async_copy for weight in again.weights)


def test_another_plan_takes_the_network_as_it_lies(settled, locker):
    network = settled(2)
    before = list(locker.locked)
    assert settled(4) is network
    assert network.resident == 4
    assert locker.locked == before


def test_a_plan_without_locked_pages_lets_go_of_them(settled, locker):
    settled(2)
    assert locker.locked
    network = settled(4, pinned=0)
    assert locker.locked == [] and network.pinned_bytes == 0


def test_a_network_that_is_there_as_planned_stays(settled, residency):
    settled(2)
    with residency.phase({"unet"}):
        assert settled(2).entered


def test_of_a_plan_what_runs_most_often_is_locked_first(monkeypatch, locker):
    """Text encoders stand first in a plan, and run once."""
    monkeypatch.setattr(model_cache, "blocks_of", lambda network: [str(index) for index in range(6)])
    monkeypatch.setattr(model_cache, "CudaLocker", lambda: locker)
    networks = {
        name: nn.Sequential(*[nn.Linear(64, 64) for _ in range(6)]).requires_grad_(False) for name in ("text", "unet")
    }
    model = SimpleNamespace(identity="m", networks=networks, on_disk={}, device=torch.device("cuda"))
    shared = {"model": "m", "quantization": "none", "bytes": SIZE, "blocks": 6, "resident_blocks": 0, "slots": 2}
    shared |= {"device_bytes": 0, "host": "ram", "phases": (), "pinned_bytes": SIZE}
    parts = tuple(PlannedComponent(name=name, **shared) for name in ("unet", "text"))
    budget = SIZE + SIZE // 2
    job_plan = SimpleNamespace(
        plan=SimpleNamespace(components=parts[::-1]),
        hottest_first=lambda: parts,
        machine=SimpleNamespace(pin_bytes=budget, vram_bytes=8 * MB, context_bytes=0, simulated=True),
    )
    room = model_cache.ModelCache()
    monkeypatch.setattr(model_cache, "open_device", lambda *_, **words: open_device(torch.device("cpu"), **words))
    placement = room.placement([model], job_plan, None)
    unet, text = (placement._residency[model_cache.network_key(model, name)] for name in ("unet", "text"))
    assert all(weight.source.supports_async_copy for weight in unet.weights)
    assert 0 < text.pinned_bytes <= budget - unet.pinned_bytes
    room.close()
