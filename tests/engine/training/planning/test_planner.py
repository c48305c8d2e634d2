"""Training plans: levers in order, only as many as needed, each with a reason."""

from dataclasses import replace

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.training.planning.known import known_model, known_names, laws_from_json, laws_to_json
from mezzotint.training.planning.planner import next_levers, plan_training, planned_phases
from mezzotint.training.planning.task import TrainingTask
from mezzotint.training_protocol import TrainingLevers

GIB = 2**30
RAM = 32 * GIB


def planned(name, gib, *, ram=RAM, **settings):
    model = known_model(shipped(name), "bfloat16")
    usual = {"resolution": 1024, "rank": 16, "batch": 1}
    return plan_training(TrainingTask(model=model, **usual | settings), ordinary_machine(int(gib * GIB), ram))


def test_enough_memory_needs_no_lever():
    plan = planned("sdxl", 80)
    assert plan.fits
    assert (plan.levers.checkpointing, plan.levers.optimizer, plan.levers.quantization) == ("none", "adamw", "none")


@pytest.mark.parametrize("name", known_names())
def test_less_memory_pulls_more_levers(name):
    order = ("none", "int8-weight", "int4")
    before = planned(name, 160)
    for gib in (24, 16, 12, 8, 6, 4):
        plan = planned(name, gib)
        assert order.index(plan.levers.quantization) >= order.index(before.levers.quantization)
        if plan.fits:
            assert plan.peak_bytes <= gib * GIB
            assert plan.peak_bytes == max(each.peak for each in plan.phases)
            before = plan
        else:
            assert any("does not fit" in reason for reason in plan.reasons)


def test_what_changes_no_result_comes_first():
    plan = planned("sdxl", 9)
    assert plan.fits and plan.levers.checkpointing != "none" and plan.levers.quantization == "none"


def test_what_is_asked_for_stays():
    plan = planned("sdxl", 24, quantization="int4", optimizer="lion", checkpointing="sqrt")
    assert (plan.levers.quantization, plan.levers.optimizer, plan.levers.checkpointing) == ("int4", "lion", "sqrt")
    assert sum("(as asked)" in reason for reason in plan.reasons) == 2


def test_blocks_are_streamed_after_8_bits_and_before_4():
    plan = planned("flux", 12)
    assert plan.fits and plan.levers.quantization == "int8-weight"
    assert plan.levers.checkpointing == "blocks" and plan.levers.stream_blocks > 2
    assert any("blocks of the frozen network are streamed: they are in RAM" in reason for reason in plan.reasons)
    assert f"{plan.levers.stream_blocks} blocks streamed" in plan.summary


def test_as_few_blocks_are_streamed_as_needed():
    counts = [planned("flux", gib, quantization="none").levers.stream_blocks for gib in (80, 24, 16, 12)]
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] > counts[1]
    asked = planned("flux", 12, stream_blocks=planned("flux", 12).levers.stream_blocks - 1, quantization="int8-weight")
    assert not asked.fits or asked.levers.checkpointing != "blocks" or asked.levers.offload_activations


def test_what_exceeds_the_ram_is_not_streamed():
    plan = planned("flux", 12, ram=8 * GIB)
    assert plan.levers.stream_blocks == 0 and plan.levers.quantization == "int4"


def test_activations_are_offloaded_before_blocks_are_computed_twice_again():
    ways = {
        (plan.levers.checkpointing, plan.levers.offload_activations)
        for gib in range(4, 60)
        if (plan := planned("flux2-klein-4b", gib / 4, batch=4, may_split=False)).fits
    }
    assert ("blocks", True) in ways and ("sqrt", False) not in ways


@pytest.mark.parametrize("asked", [{"stream_blocks": 20}, {"offload_activations": True}])
def test_streaming_and_offloading_as_asked_checkpoint_blocks(asked):
    plan = planned("flux", 80, **asked)
    assert plan.levers.checkpointing == "blocks" and plan.levers.quantization == "none"
    assert (plan.levers.stream_blocks, plan.levers.offload_activations) == (
        asked.get("stream_blocks", 0),
        asked.get("offload_activations", False),
    )
    assert any("(as asked)" in reason for reason in plan.reasons)


def test_what_is_not_wanted_is_not_used():
    plan = planned("flux", 12, stream_blocks=0, offload_activations=False)
    assert plan.levers.stream_blocks == 0 and not plan.levers.offload_activations


def test_without_bitsandbytes_the_8bit_optimizer_is_not_chosen():
    assert planned("flux", 8, has_8bit=False).levers.optimizer == "adamw"


def test_a_batch_is_split_before_numbers_change():
    plan = planned("sdxl", 9, batch=8)
    assert plan.levers.batch * plan.levers.accumulate == 8
    assert plan.levers.quantization == "none"
    assert planned("sdxl", 9, batch=8, may_split=False).levers.batch == 8


def test_text_encoders_that_do_not_fit_run_on_the_cpu():
    plan = planned("flux", 8)
    assert plan.levers.text_on_cpu and any("on the CPU" in reason for reason in plan.reasons)
    assert not planned("flux", 24).levers.text_on_cpu


def test_an_autoencoder_that_does_not_fit_works_in_tiles():
    whole = planned("sdxl", 6, quantization="int4", checkpointing="sqrt")
    assert whole.levers.vae_tile == 0
    peak = next(each.peak for each in whole.phases if each.name == "images")
    plan = planned("sdxl", (peak - 1) / GIB, quantization="int4", checkpointing="sqrt")
    images = next(each for each in plan.phases if each.name == "images")
    assert plan.levers.vae_tile == 768 and images.peak < peak and any("tiles of 768" in each for each in plan.reasons)


def test_after_a_shortage_comes_the_next_that_needs_less():
    task = TrainingTask(model=known_model(shipped("sdxl"), "bfloat16"), resolution=1024, rank=16, batch=1)
    machine, levers, peaks = ordinary_machine(24 * GIB, RAM), TrainingLevers(text_on_cpu=True, vae_tile=512), []
    while levers is not None:
        peaks.append(planned_phases(task, levers)[2].peak)
        assert levers.optimizer == "adamw" and levers.text_on_cpu and levers.vae_tile == 512
        last, levers = levers, next_levers(task, machine, levers, keeps_optimizer=True)
    assert peaks == sorted(peaks, reverse=True) and len(peaks) > 4 and last.quantization == "int4"
    assert next_levers(task, machine, replace(last, quantization="none"), keeps_optimizer=False).optimizer != "adamw"


def test_the_summary_is_one_line_of_buckets():
    plan = planned("z-image", 12)
    assert plan.summary.startswith("needs ") and "\n" not in plan.summary
    for word in ("weights", "gradients", "optimizer", "activations"):
        assert word in plan.summary


@pytest.mark.parametrize("name", known_names())
def test_laws_survive_json(name):
    laws = known_model(shipped(name), "bfloat16").denoiser.laws
    assert laws_from_json(laws_to_json(laws)) == laws
