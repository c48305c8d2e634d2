"""Networks that come and go by phases, under one cap."""

import gc

import pytest
import torch
from torch import nn

from mezzotint.memory.accounting import DeviceOutOfMemory
from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency

SIZE = 64
BLOCK = SIZE * SIZE * 4 + SIZE * 4  # bytes of a layer
X = torch.randn(2, SIZE)


def residency_of(cap, **options):
    residency = Residency(open_device(torch.device("cpu"), cap=cap, simulated=True, reading=False, **options))
    networks = {}
    for name in ("text", "unet", "refiner", "vae"):
        networks[name] = nn.Sequential(*[nn.Linear(SIZE, SIZE) for _ in range(4)]).requires_grad_(False)
        residency.add(name, networks[name], ["0", "1", "2", "3"], resident=4, slots=1)
    return residency, networks


def test_phase_after_phase_under_a_cap_that_holds_one():
    residency, networks = residency_of(6 * BLOCK)
    expected = {name: network(X) for name, network in networks.items()}
    for name in (*networks, *networks):
        with residency.phase({name}):
            assert residency.entered == (name,)
            assert networks[name](X).equal(expected[name])
        assert residency.device.peak_bytes() > residency[name].bytes()
    residency.clear()
    gc.collect()
    assert residency.entered == () and residency.device.ledger.in_use == 0


def test_others_stay_while_there_is_room_and_the_oldest_go_first():
    residency, _ = residency_of(10 * BLOCK)
    for name in ("text", "unet", "refiner"):
        with residency.phase({name}, room=BLOCK):
            pass
    assert residency.entered == ("unet", "refiner")
    with residency.phase({"text"}, keep={"unet"}, room=BLOCK):
        assert residency.entered == ("unet", "text")
    with residency.phase({"unet"}, room=5 * BLOCK):
        assert residency.entered == ("unet",)
    with residency.phase({"unet", "vae"}):
        assert set(residency.entered) == {"unet", "vae"}
    with residency.phase({"vae"}):
        assert residency.entered == ("vae",)


def test_what_is_kept_goes_when_there_is_no_other_way():
    residency, _ = residency_of(5 * BLOCK)
    with residency.phase({"unet"}):
        pass
    with residency.phase({"vae"}, keep={"unet"}):
        assert residency.entered == ("vae",)


def test_the_next_is_brought_while_one_works():
    residency, networks = residency_of(10 * BLOCK)
    expected = networks["refiner"](X)
    with residency.phase({"unet"}):
        assert not residency.prefetch("refiner", room=3 * BLOCK)
        assert residency.prefetch("refiner", room=BLOCK) and residency.prefetch("refiner")
        networks["unet"](X)
        assert not residency.prefetch("vae")
    with residency.phase({"refiner"}, keep={"unet"}, room=0):
        assert residency.entered == ("unet", "refiner")
        assert networks["refiner"](X).equal(expected)


def test_activations_count_inside_a_phase():
    residency, networks = residency_of(5 * BLOCK)
    with residency.phase({"unet"}), pytest.raises(DeviceOutOfMemory):
        networks["unet"](torch.randn(200, SIZE))
    with residency.phase({"unet"}):
        networks["unet"](X)


def test_a_network_without_room_leaves_the_others_usable():
    residency, networks = residency_of(4 * BLOCK)
    expected = networks["vae"](X)
    residency.device.ledger.refuse = lambda *_: True
    with pytest.raises(DeviceOutOfMemory), residency.phase({"vae"}):
        raise AssertionError("no phase begins without its networks")
    residency.device.ledger.refuse = None
    residency["vae"].arrange(1, 1)
    with residency.phase({"vae"}):
        assert networks["vae"](X).equal(expected)


def test_networks_come_by_name_and_go():
    residency, networks = residency_of(None)
    with residency.phase({"unet", "vae"}):
        pass
    residency.remove("unet")
    residency.remove("unet")
    assert "unet" not in residency and "vae" in residency and residency.entered == ("vae",)
    assert residency.prefetch("text")  # without a cap there is always room
    residency.add("vae", networks["vae"], [], resident=0, slots=1)
    assert residency.entered == ("text",) and residency["vae"].blocks == ()
    residency.clear()
    assert residency.device.arena.in_use == 0


# ---- page-locked memory


class Locker:
    """Counts what is locked, and refuses when it should."""

    def __init__(self, budget, refuses=False):
        self.budget, self.refuses, self.locked, self.asked = budget, refuses, {}, 0

    def lock(self, address, size):
        self.asked += 1
        if self.refuses:
            return False
        self.locked[address] = size
        assert sum(self.locked.values()) <= self.budget
        return True

    def unlock(self, address):
        del self.locked[address]


WHOLE = 5 * BLOCK  # more than a network of four blocks


def locked_of(residency):
    """How many weights of each network are locked."""
    names = ("text", "unet", "refiner", "vae")
    return {name: sum(weight.source.supports_async_copy for weight in residency[name].weights) for name in names}


def test_the_first_network_is_locked_before_the_others_and_the_budget_is_one():
    residency, networks = residency_of(20 * BLOCK)
    before = {name: network(X) for name, network in networks.items()}
    budget = 6 * BLOCK
    residency.lock({"unet": WHOLE, "text": WHOLE}, budget, Locker(budget))
    locked = locked_of(residency)
    assert locked["unet"] == 8
    assert 0 < locked["text"] < 8
    with residency.phase({"text", "unet"}):
        assert all(networks[name](X).equal(before[name]) for name in ("text", "unet"))
    residency.clear()


def test_what_an_earlier_job_has_locked_gives_way_to_what_is_used_more_often():
    residency, _ = residency_of(20 * BLOCK)
    budget = 6 * BLOCK
    locker = Locker(budget)
    residency.lock({"text": WHOLE}, budget, locker)
    residency.lock({"unet": WHOLE, "text": budget - WHOLE}, budget, locker)
    locked = locked_of(residency)
    assert locked["unet"] == 8
    assert 0 < locked["text"] < 8
    residency.lock({"refiner": WHOLE}, budget, locker)
    assert locked_of(residency)["refiner"] == 8
    assert locked_of(residency)["unet"] == 0


def test_what_nobody_asks_about_stays_locked_while_there_is_room():
    residency, _ = residency_of(20 * BLOCK)
    locker = Locker(12 * BLOCK)
    residency.lock({"text": WHOLE}, 12 * BLOCK, locker)
    with residency.phase({"unet"}):
        pass
    before = dict(locker.locked)
    residency.lock({"unet": 0, "vae": WHOLE}, 12 * BLOCK, locker)
    assert before.items() <= locker.locked.items()
    assert "unet" in residency.entered, "nothing of it was to be locked"
    residency.lock({"text": 0}, 12 * BLOCK, locker)
    assert locked_of(residency) == {"text": 0, "unet": 0, "refiner": 0, "vae": 8}


def test_what_is_locked_already_is_left_alone_and_a_refusal_is_not_asked_for_again():
    residency, _ = residency_of(20 * BLOCK)
    for refuses in (False, True):
        locker = Locker(20 * BLOCK, refuses)
        name = "vae" if refuses else "unet"
        residency.lock({name: WHOLE}, 20 * BLOCK, locker)
        with residency.phase({name}):
            pass
        asked = locker.asked
        residency.lock({name: WHOLE}, 20 * BLOCK, locker)
        assert name in residency.entered
        assert locker.asked == asked > 0
