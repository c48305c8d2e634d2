"""What is planned before a job, and what is learned from it."""

import pytest
from planned_machines import GB, card, component, model

from mezzotint.errors import OutOfMemory
from mezzotint.memory.machine.calibration import Calibration, load_calibration
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.task import StageTask, Task
from mezzotint.protocol import PhaseMemory
from mezzotint.stages.job_plan import JobPlan, _check


def networks():
    text = component("text_encoder", "text", [20_000_000] * 4)
    unet = component("unet", "denoiser", [100_000_000] * 20)
    vae = component("vae", "vae", [])
    return model(text, unet, vae)


def job_plan(vram, ram=16 * GB, **changes):
    machine, known = card(vram, ram, **changes), networks()
    task = Task(stages=(StageTask(model=known, width=1024, height=1024, steps=20, guided=True),))
    return JobPlan(plan=plan(task, machine), task=task, machine=machine, calibration=Calibration())


def test_whether_it_is_tight():
    assert not job_plan(24 * GB).is_tight
    assert job_plan(2 * GB).is_tight


def test_what_stays_in_its_files():
    found = job_plan(4 * GB, ram=1 * GB)
    assert "unet" in found.on_disk(found.plan.components[0].model) and found.on_disk("another") == frozenset()


def test_what_runs_in_every_step_comes_before_what_runs_once():
    names = [part.name for part in job_plan(4 * GB).hottest_first()]
    assert sorted(names) == ["text_encoder", "unet", "vae"]
    assert names[0] == "unet"


def test_no_plan_is_an_error_with_numbers_that_suffice():
    small = job_plan(GB // 8)
    with pytest.raises(OutOfMemory, match="the minimum is") as refused:
        _check(small.plan)
    assert refused.value.exit_code == 4
    said = str(refused.value).partition("minimum is ")[2].split()
    wanted = float(said[0]) * (2**30 if said[1] == "GB" else 2**20)
    assert wanted >= small.plan.smallest_vram_bytes
    _check(job_plan(int(wanted)).plan)


def test_a_card_teaches_the_next_plan(tmp_path):
    found = job_plan(24 * GB)
    phase = next(each for each in found.plan.phases if each.name == "stage 1")
    measured = phase.weights_bytes + 2 * phase.activation_bytes
    held = measured + phase.activation_bytes // 5
    found.learn([PhaseMemory(name="stage 1", predicted_bytes=1, measured_bytes=measured, held_bytes=held)], tmp_path)
    learned = load_calibration(tmp_path, found.machine.device_name)
    again = plan(found.task, found.machine, learned)
    then = next(each for each in again.phases if each.name == "stage 1")
    assert then.activation_bytes == pytest.approx(2.2 * phase.activation_bytes, rel=0.01)


def test_steps_teach_how_long_the_next_take(tmp_path):
    found = job_plan(24 * GB)
    usual = next(phase.seconds for phase in found.plan.phases if phase.name == "stage 1") / 20
    found.learn([], tmp_path, {0: [1.5 * usual] * 19})
    learned = load_calibration(tmp_path, found.machine.device_name)
    again = plan(found.task, found.machine, learned)
    then = next(phase.seconds for phase in again.phases if phase.name == "stage 1") / 20
    assert then == pytest.approx(1.5 * usual)


def test_a_simulated_card_teaches_nothing(tmp_path):
    found = job_plan(24 * GB, simulated=True)
    found.learn([PhaseMemory(name="stage 1", predicted_bytes=1, measured_bytes=10**10)], tmp_path, {0: [0.1] * 19})
    assert list(tmp_path.iterdir()) == []
