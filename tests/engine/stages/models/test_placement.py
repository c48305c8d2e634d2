"""What a job does with room to spare on a card: more blocks stay, but not in memory that other programs have."""

from types import SimpleNamespace

import pytest
import torch
from fake_card.install import fake_card
from torch import nn

from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency
from mezzotint.stages.models.placement import Placement, network_key

MB = 2**20
BLOCKS = 8  # of a quarter of a MB each


def plan_of(decoding):
    """Of a network that stays while something takes so much."""
    part = SimpleNamespace(model="m", name="unet", phases=("denoise", "decode"), device_bytes=MB)
    phases = (("denoise", 0), ("decode", decoding))
    return SimpleNamespace(
        components=(part,),
        phases=tuple(SimpleNamespace(name=n, weights_bytes=MB, activation_bytes=taken) for n, taken in phases),
    )


def staying(others, decoding=0):
    """How many blocks stay after the first step, where the cap has room for all and other programs hold so much.

    `decoding` is what a later phase takes, through which the plan keeps the network.
    """
    network = nn.Sequential(*[nn.Linear(256, 256) for _ in range(BLOCKS)]).requires_grad_(False)
    model = SimpleNamespace(networks={"unet": network}, identity="m")
    key = network_key(model, "unet")
    with fake_card(8 * MB) as card:
        device = open_device(torch.device("cuda:0"), cap=6 * MB, reading=False)
        residency = Residency(device)
        residency.add(key, network, [str(index) for index in range(BLOCKS)], resident=1, slots=2)
        placement = Placement([model], recovery=SimpleNamespace(taken=()), residency=residency, plan=plan_of(decoding))
        with residency.phase({key}):
            card.device().others = others
            placement.step_done("denoise", model, "unet")
            assert device.ledger.in_use + others <= 8 * MB
            staying = residency[key].resident
        residency.clear()
        device.close()
    return staying


def test_all_blocks_stay_where_there_is_room():
    assert staying(others=0) == BLOCKS


@pytest.mark.parametrize("others", [6 * MB, 6.5 * MB, 7 * MB])
def test_memory_of_other_programs_is_no_room(others):
    assert 1 <= staying(others=int(others)) < BLOCKS


@pytest.mark.parametrize(("decoding", "most"), [(3 * MB, BLOCKS), (3.8 * MB, BLOCKS - 1), (5 * MB, 3)])
def test_what_a_later_phase_takes_beside_the_network_is_no_room(decoding, most):
    assert 1 <= staying(others=0, decoding=int(decoding)) <= most
