"""How many images at once: weights lie as for one, and one more would not do."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned_machines import GB, MB, card, processor, task, usual_model

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.batching import largest_batch, streams_no_more, with_batch
from mezzotint.memory.planning.phases import activations, network_uses
from mezzotint.memory.planning.planner import plan

KNOWN = Calibration()


def batch(chosen):
    return chosen.stages[0].batch


@pytest.mark.parametrize("guidance", ["batched", "sequential"])
@pytest.mark.parametrize("guided", [True, False])
def test_a_batch_multiplies_what_lives_and_no_weights(guidance, guided):
    one = task(usual_model(guided=guided), count=4)
    four = with_batch(one, 4)
    alone, together = (activations(each, guidance, 0, KNOWN) for each in (one, four))
    assert together[1] == pytest.approx(4 * alone[1], rel=1e-6)
    assert (together[0], together[2]) == (alone[0], alone[2])  # words and images come one after another
    work = [
        {part.key: part.works for part in network_uses(each, guidance, 0)}["made-up/unet"][0] for each in (one, four)
    ]
    assert work[1].passes * 4 == work[0].passes and work[1].operations == pytest.approx(4 * work[0].operations)


@given(vram=st.integers(1, 16), most=st.integers(1, 8), policy=st.sampled_from(["auto", "lowest"]))
def test_it_is_the_most_that_leaves_weights_where_they_are(vram, most, policy):
    machine = card(vram * GB, 32 * GB)
    job = task(usual_model())
    chosen, found = largest_batch(job, machine, KNOWN, policy, most)
    alone = plan(replace(job, count=most), machine, KNOWN, policy)
    assert 1 <= batch(chosen) <= most
    assert found.fits == alone.fits and streams_no_more(found, alone)
    if batch(chosen) < most and alone.fits:
        more = plan(with_batch(chosen, batch(chosen) + 1), machine, KNOWN, policy)
        assert not (more.fits and streams_no_more(more, alone))


def test_more_memory_never_gives_a_smaller_batch():
    sizes = [
        batch(
            largest_batch(task(usual_model(), quantization="none"), card(vram * 512 * MB, 64 * GB), KNOWN, "auto", 8)[0]
        )
        for vram in range(6, 48, 3)
    ]
    assert sizes[-1] == 8 and sizes[0] < 8
    whole = [size for size in sizes if size > 1]
    assert whole == sorted(whole)


def test_where_nothing_fits_there_is_one():
    chosen, found = largest_batch(task(usual_model()), card(64 * MB, GB), KNOWN, "auto", 8)
    assert batch(chosen) == 1 and not found.fits


def test_a_processor_s_batch_fits_its_memory():
    chosen, found = largest_batch(task(usual_model()), processor(8 * GB), KNOWN, "auto", 8)
    assert found.fits and found.peak_ram_bytes <= 8 * GB and 1 <= batch(chosen) <= 8
