"""`auto` follows the card and the model, never what a person named and never the moment."""

import pytest

from mezzotint.protocol import DeviceInfo
from mezzotint.quantization.auto import settle

GB = 2**30


def device(id_, memory):
    return DeviceInfo(id=id_, name="", memory_bytes=memory)


@pytest.mark.parametrize(
    ("network", "card", "scheme"),
    [
        (5, 24, "none"),
        (5, 8, "none"),
        (5, 6, "int8"),
        (5, 4, "int4-lowrank"),
        (23, 24, "int8"),
        (23, 12, "int4-lowrank"),
    ],
)
def test_the_least_loss_that_fits(network, card, scheme):
    assert settle("auto", network * GB, device("cuda:0", card * GB)) == scheme


def test_a_processor_gains_nothing():
    assert settle("auto", 100 * GB, device("cpu", GB)) == "none"


@pytest.mark.parametrize("asked", ["none", "int8", "int8-weight", "int4", "int4-lowrank"])
def test_what_was_asked_for_is_had(asked):
    assert settle(asked, 100 * GB, device("cuda:0", 2 * GB)) == asked
    assert settle(asked, GB, device("cpu", 0)) == asked
