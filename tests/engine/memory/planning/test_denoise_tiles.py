"""Tiles in plans: 8192 x 8192 on a card with 8 GB."""

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.memory.planning.denoise_tiles import auto_tile, with_chosen_tiles
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.task import StageTask, Task
from mezzotint.values.sizes import AUTO_TILE

GB = 2**30


def enlarging(name, channels=4, **changes):
    """A second pass from 1024 x 1024 to 8192 x 8192, with an upscaler of usual size between."""
    model = shipped(name)
    first = {"model": model, "width": 1024, "height": 1024, "steps": 30, "guided": model.guided}
    second = first | {"width": 8192, "height": 8192, "steps": 9, "latent_channels": channels}
    return Task(stages=(StageTask(**first), StageTask(**second)), dtype="float16", upscaling=GB // 2)


@pytest.mark.parametrize(("name", "channels"), [("sdxl", 4), ("flux", 16)])
def test_8192_by_8192_fits_8_gb_in_tiles_only(name, channels):
    task, machine = enlarging(name, channels), ordinary_machine(8 * GB, 32 * GB)
    whole = plan(task, machine)
    assert not whole.fits and whole.smallest_vram_bytes > 8 * GB
    chosen = with_chosen_tiles(task, AUTO_TILE, machine, Calibration(), "auto")
    assert [stage.tile for stage in chosen.stages] == [0, 1024]
    found = plan(chosen, machine)
    assert found.fits and found.peak_vram_bytes == max(phase.peak_bytes for phase in found.phases) <= 8 * GB
    assert "stage 2 has 121 passes per step, of tiles of 1024x1024, one at a time" in found.reasons


def test_where_memory_is_short_tiles_are_smaller():
    task = enlarging("sdxl")
    needs = [
        plan(with_chosen_tiles(task, side, ordinary_machine(80 * GB, 64 * GB), Calibration(), "auto"), small)
        for small in (ordinary_machine(8 * GB, 32 * GB),)
        for side in (1024, 768, 512)
    ]
    assert [each.phases[2].activation_bytes for each in needs] == sorted(
        (each.phases[2].activation_bytes for each in needs), reverse=True
    )
    assert [auto_tile((1024, 1152), choice) for choice in range(3)] == [1024, 768, 512]
    assert auto_tile((64, 64)) == 128


def test_the_plan_has_room_for_the_upscaler():
    with_one = plan(enlarging("sdxl"), ordinary_machine(80 * GB, 64 * GB))
    assert with_one.phases[-1].activation_bytes >= GB // 2


def test_the_smallest_tiles_are_taken_where_none_fit():
    tiny = ordinary_machine(GB // 2, GB)
    chosen = with_chosen_tiles(enlarging("sdxl"), AUTO_TILE, tiny, Calibration(), "auto")
    assert [stage.tile for stage in chosen.stages] == [512, 512]
