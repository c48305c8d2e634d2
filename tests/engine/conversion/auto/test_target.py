"""The memory of a card: what fits by the plan."""

import pytest
from planned_machines import GB, MB, card, component, model

from mezzotint.conversion.auto.target import MemoryTarget, quantized
from mezzotint.errors import UsageError
from mezzotint.memory.planning.planner import capacity
from mezzotint.values.sizes import MemorySize

BLOCKS = 8
BLOCK = 100 * MB


def usual(outside=MB):
    return model(
        component("text", "text", [20 * MB] * 4),
        component("unet", "denoiser", [BLOCK] * BLOCKS, outside=outside),
        component("vae", "vae", [], outside=20 * MB),
    )


def target(vram, **changes):
    return MemoryTarget(model=usual(**changes), machine=card(vram, 32 * GB))


def saved(share):
    """Bytes saved in each block."""
    return {f"blocks.{number}.layer": int(share * BLOCK) for number in range(BLOCKS)}


def test_saved_bytes_are_taken_from_the_blocks_they_are_in():
    small = quantized(usual(outside=5 * MB), {"blocks.3.layer": MB, "blocks.3.other": MB, "head": 2 * MB})
    sizes = [block.bytes["none"] for block in small.denoiser.blocks]
    assert sizes[3] == BLOCK - 2 * MB and sizes[2] == BLOCK
    assert small.denoiser.outside["none"] == 3 * MB
    assert small.components[0] == usual().components[0]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_what_fits_is_planned_whole_and_within_the_card(share):
    needed = next(vram for vram in range(256 * MB, 4 * GB, MB) if target(vram).fits(saved(share)))
    found = target(needed)
    plan = found.plan(saved(share))
    denoiser = next(part for part in plan.components if part.name == "unet")
    assert plan.fits and plan.peak_vram_bytes <= capacity(found.machine).vram
    assert denoiser.resident_blocks == BLOCKS
    found.check(saved(share))
    assert not target(needed - 2 * MB).fits(saved(share))


def test_a_card_that_no_mix_fits_is_told_the_smallest_that_does():
    with pytest.raises(UsageError, match=r"the smallest needs (.*) [MG]B; name a larger --target-vram") as refused:
        target(512 * MB).check(saved(0.5))
    needs = str(refused.value).partition("needs ")[2].partition(";")[0]
    assert target(MemorySize().read(needs)).fits(saved(0.5))


def test_a_card_on_which_something_else_does_not_fit():
    large = model(
        component("unet", "denoiser", [MB] * 2, outside=MB, live=0),
        component("vae", "vae", [], outside=3 * GB),
    )
    found = MemoryTarget(model=large, machine=card(GB, 32 * GB))
    assert found.fits({})
    with pytest.raises(UsageError, match="no mix of schemes makes made-up small enough"):
        found.check({})
