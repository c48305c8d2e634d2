"""Plans in plain sentences."""

import pytest
from planned_machines import GB, MB, card, component, model, processor, task, usual_model

from mezzotint.checkpoints.plain_text import size_at_least
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.planner import plan


def test_the_first_sentence_says_what_is_needed_what_there_is_and_what_is_done():
    heavy = model(
        component("transformer", "denoiser", [100 * MB] * 24, live=1e4, work=1e6),
        component("vae", "vae", [], outside=80 * MB, live=5e4),
    )
    first = plan(task(heavy, steps=30, vae_tile=512), card(2 * GB, 32 * GB)).reasons[0]
    assert first.startswith("needs 3.6 GB with everything loaded; you have 2.0 GB: will use int8 for transformer")
    assert "VAE in tiles of 512" in first
    assert first.endswith((" % time", "no slower"))


def test_streamed_blocks_are_counted():
    slow = model(component("unet", "denoiser", [100 * MB] * 24, live=1e4, work=3e9), component("vae", "vae", []))
    assert "of 24 blocks of unet resident" in plan(task(slow), card(2 * GB, 32 * GB)).reasons[0]


def test_with_room_for_all_there_is_nothing_to_explain():
    told = plan(task(usual_model()), card(24 * GB, 64 * GB)).reasons
    assert told[0].endswith("everything stays loaded")
    assert [line.partition(" ")[0] for line in told] == ["needs", "the", "loading"]


def test_what_is_there_in_turns_because_others_hold_memory_is_told_so():
    told = plan(task(usual_model()), card(24 * GB, 64 * GB, free_vram_bytes=3 * GB)).reasons
    assert "have 24.0 GB: models are swapped in and out" in told[0]


def test_loading_leaves_quantizing_out_and_says_so():
    machine = card(24 * GB, 64 * GB, disk_rate=1e8)
    told = " ".join(plan(task(usual_model(), quantization="int8"), machine).reasons)
    assert "loading takes about" in told and "plus quantizing" in told
    assert "plus quantizing" not in " ".join(plan(task(usual_model()), machine).reasons)


def test_a_disk_that_serves_is_told():
    told = " ".join(plan(task(usual_model()), card(6 * GB, 1500 * MB), policy="fast").reasons)
    assert "RAM is too small" in told
    assert "read from disk" in told


@pytest.mark.parametrize(
    ("timed", "link", "told"),
    [
        (False, False, "times are estimates for a card of mine, not measured"),
        (False, True, "copy times were measured on this device; step times are estimates for sm_86"),
        (True, False, "step times were measured on this device; copy times are estimates for a card of mine"),
        (True, True, "step times were measured on this device"),
    ],
)
def test_what_was_measured_is_told_from_what_is_expected(timed, link, told):
    known = Calibration()
    known = known.timed("sdxl", "denoiser", "none", expected=1, measured=2) if timed else known
    machine = card(24 * GB, 64 * GB, expected_of="a card of mine", link_measured=link)
    assert plan(task(usual_model()), machine, known).reasons[-1] == told


def test_notes_of_the_machine_come_last():
    made = plan(task(usual_model()), card(24 * GB, 64 * GB, notes=("others hold 2 GB",)))
    assert made.reasons[-1] == "others hold 2 GB"


def test_a_refusal_rounds_up_so_that_what_is_told_is_enough():
    made = plan(task(usual_model(), dtype="float32"), processor(300 * MB))
    assert not made.fits
    assert size_at_least(made.smallest_ram_bytes) in made.reasons[0]
    assert "--memory lowest" in made.reasons[1]
    assert "--memory lowest" not in " ".join(plan(task(usual_model()), processor(250 * MB), policy="lowest").reasons)


def test_work_that_takes_no_time_is_not_compared():
    light = model(
        component("transformer", "denoiser", [100 * MB] * 24, live=0.0, work=0.0), component("vae", "vae", [], work=0.0)
    )
    first = plan(task(light, quantization="int8"), card(2 * GB, 32 * GB)).reasons[0]
    assert "will use int8 for transformer" in first
    assert "time" not in first and "slower" not in first
