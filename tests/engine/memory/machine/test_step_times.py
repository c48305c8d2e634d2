"""What the steps of a job teach."""

from dataclasses import replace

import pytest
from planned_machines import GB, MB, card, component, model, task

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.step_times import learned_steps, steady
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.problem import Problem


@pytest.mark.parametrize(
    ("seconds", "usual"),
    [
        ([1.0] * 6, 1.0),
        ([1.0, 1.02, 0.98, 1.0, 1.01, 1.0, 1.05], 1.0),
        ([1.0] * 5, None),
        ([], None),
        ([1.0] * 10 + [30.0], None),  # paused
        ([1.0] * 6 + [1.6] * 6, None),  # throttled half of the way
        ([0.1] * 6 + [1.0] * 6, None),  # the host ran ahead for long
        ([0.0] * 8, None),
    ],
)
def test_only_steps_that_agree_teach(seconds, usual):
    assert steady(seconds) == usual


def known_model(work=1e9):
    return model(
        component("text_encoder", "text", [20 * MB] * 4, live=1e4),
        component("unet", "denoiser", [100 * MB] * 20, live=1e4, work=work, schemes=("none",)),
        component("vae", "vae", [], live=1e4),
    )


def step_seconds(job, machine, calibration):
    made = plan(job, machine, calibration)
    return made, next(phase.seconds for phase in made.phases if phase.name == "stage 1") / job.stages[0].steps


@pytest.mark.parametrize("vram", [24 * GB, 2 * GB], ids=["resident", "streamed"])
@pytest.mark.parametrize(("slower", "tile"), [(0.6, 0), (1.0, 0), (1.8, 0), (1.8, 512)])
def test_the_next_plan_expects_what_was_measured(vram, slower, tile):
    job, machine = task(known_model(), steps=20), card(vram, 64 * GB, pin_bytes=32 * GB)
    job = replace(job, stages=(replace(job.stages[0], tile=tile),))
    real = replace(machine, speed=machine.speed / slower)
    made, _ = step_seconds(job, machine, Calibration())
    _, took = step_seconds(job, real, Calibration())
    learned = learned_steps(Problem(job, machine, Calibration()), made, 1, [took] * 19)
    assert learned.time_factor("sdxl", "denoiser", "none") == pytest.approx(slower, rel=0.02)
    assert step_seconds(job, machine, learned)[1] == pytest.approx(took, rel=0.02)


def test_steps_that_do_not_agree_teach_nothing():
    job, machine = task(known_model(), steps=20), card(24 * GB, 64 * GB)
    made, took = step_seconds(job, machine, Calibration())
    assert learned_steps(Problem(job, machine, Calibration()), made, 1, [took, 3 * took] * 9) == Calibration()


def test_halves_of_the_guidance_in_turn_are_two_passes():
    job, machine = task(known_model(), steps=20), card(24 * GB, 64 * GB)
    made, took = step_seconds(job, machine, Calibration())
    in_turn = replace(made, guidance="sequential")
    learned = learned_steps(Problem(job, machine, Calibration()), in_turn, 1, [took * 1.03] * 19)
    assert learned.time_factor("sdxl", "denoiser", "none") == pytest.approx(1.0, rel=0.001)


def test_where_copying_rules_nothing_is_learned():
    job, machine = task(known_model(work=1e6), steps=20, quantization="none"), card(2 * GB, 64 * GB, pin_bytes=0)
    made, took = step_seconds(job, machine, Calibration())
    assert any(part.slots for part in made.components)
    assert learned_steps(Problem(job, machine, Calibration()), made, 1, [took] * 19) == Calibration()
