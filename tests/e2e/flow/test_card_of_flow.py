"""Flow models on a card that is not there: whole or streamed the same image, within the plan, and no step waits."""

from dataclasses import replace

import pytest
from card_jobs import pixels, run
from every_device import WaitsOfSteps
from fake_card.install import fake_card
from flow_parity import request_of
from tiny_z_image import write_tiny_z_image

GIB = 2**30
FAMILIES = {"z-image": write_tiny_z_image}


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request, tmp_path_factory):
    return FAMILIES[request.param](tmp_path_factory.mktemp(request.param) / "folder")


@pytest.mark.parametrize("quantization", ["none", "int8"])
def test_whole_or_streamed_it_is_one_image_within_the_plan(folder, tmp_path, quantization):
    job = request_of(folder, tmp_path, steps=2, quantization=quantization, device="cuda:0")
    with fake_card(2 * GIB) as card:
        whole = run(job)
        waits = WaitsOfSteps(card)
        streamed = run(replace(job, vram_limit_bytes=whole.plan.smallest_vram_bytes), waits)
        assert pixels(streamed) == pixels(whole)
        assert (waits.between, card.hazards) == ([], [])
    assert any(part.resident_blocks < part.blocks for part in streamed.plan.components if part.blocks)
    for phase in (*whole.memory.phases, *streamed.memory.phases):
        assert phase.measured_bytes <= 1.1 * phase.predicted_bytes, phase
