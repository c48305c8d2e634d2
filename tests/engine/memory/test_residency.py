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
