"""The planner's promises, on any machine and any job."""

import dataclasses
import subprocess
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from planned_machines import GB, MB, card, component, machines, model, processor, task, tasks, usual_model

from mezzotint.codec import from_json, to_json
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.planner import capacity, plan, with_headroom
from mezzotint.protocol import Plan

TIERS = ("none", "int8", "int8-weight", "int4-lowrank", "int4")
policies = st.sampled_from(["auto", "fast", "balanced", "lowest"])
quick = settings(max_examples=50, deadline=None)


def quality(made):
    return -TIERS.index(made.quantization), -TIERS.index(made.text_quantization)


@quick
@given(tasks(), machines(), policies)
def test_a_plan_that_fits_keeps_to_every_limit(job, machine, policy):
    made = plan(job, machine, policy=policy)
    assert made.reasons
    assert all(made.reasons)
    if not made.fits:
        return
    limits = capacity(machine)
    assert made.peak_vram_bytes <= min(limits.vram, machine.free_vram_bytes)
    assert made.peak_ram_bytes <= min(limits.ram, machine.free_ram_bytes)
    assert made.pinned_bytes <= machine.pin_bytes
    assert made.peak_vram_bytes == max(phase.peak_bytes for phase in made.phases)
    assert made.seconds >= made.seconds_resident * 0.999 or made.guidance == "sequential"
    for phase in made.phases:
        there = sum(part.device_bytes for part in made.components if phase.name in part.phases)
        assert phase.weights_bytes == there
    for part in made.components:
        assert part.resident_blocks <= part.blocks
        assert bool(part.slots) == (part.resident_blocks < part.blocks)


@quick
@given(tasks(), machines(), policies)
def test_a_refusal_tells_exactly_what_would_do(job, machine, policy):
    made = plan(job, machine, policy=policy)
    assume(not machine.simulated)
    vram, ram = made.smallest_vram_bytes, made.smallest_ram_bytes
    if machine.one_memory:
        vram = ram = max(vram, ram)

    def with_memory(vram, ram):
        changed = {"vram_bytes": vram, "free_vram_bytes": vram, "ram_bytes": ram, "free_ram_bytes": ram, "pin_bytes": 0}
        return plan(job, dataclasses.replace(machine, **changed), policy=policy).fits

    assert with_memory(vram, ram)
    assert not with_memory(vram - 1, ram) or machine.one_memory
    assert not with_memory(vram, ram - 1) or machine.one_memory
    if not made.fits:
        assert machine.vram_bytes < vram or machine.ram_bytes < ram


@quick
@given(tasks(), machines(), policies, st.integers(0, 700), st.integers(0, 700))
def test_more_memory_never_makes_it_worse(job, machine, policy, more_vram, more_ram):
    before = plan(job, machine, policy=policy)
    assume(before.fits)
    ram = machine.ram_bytes + more_ram * MB
    vram = ram if machine.one_memory and not machine.simulated else machine.vram_bytes + more_vram * MB
    changed = {"vram_bytes": vram, "free_vram_bytes": vram, "ram_bytes": ram, "free_ram_bytes": ram}
    after = plan(job, dataclasses.replace(machine, **changed), policy=policy)
    assert after.fits
    if policy == "fast":
        assert after.seconds <= before.seconds * (1 + 1e-9)
        return
    assert quality(after) >= quality(before)
    if quality(after) == quality(before) and after.vae_tile == before.vae_tile:
        assert after.seconds <= before.seconds * (1 + 1e-9)


@quick
@given(tasks(), machines(), policies, st.floats(0.3, 1), st.floats(0.3, 1))
def test_free_memory_changes_no_pixel(job, machine, policy, vram_share, ram_share):
    at_rest = plan(job, machine, policy=policy)
    busy = dataclasses.replace(
        machine,
        free_vram_bytes=int(machine.free_vram_bytes * vram_share),
        free_ram_bytes=int(machine.free_ram_bytes * ram_share),
    )
    now = plan(job, busy, policy=policy)
    for field in ("quantization", "text_quantization", "vae_tile"):
        assert getattr(now, field) == getattr(at_rest, field)
    assert at_rest.fits or not now.fits


@quick
@given(tasks(), machines(), policies, st.floats(0.1, 10), st.floats(0.1, 10))
def test_times_of_earlier_jobs_change_no_pixel(job, machine, policy, plain, quantized):
    families = [stage.model.family for stage in job.stages]
    times = {f"{name}/denoiser/{s}": plain if s == "none" else quantized for name in families for s in TIERS}
    fresh, known = (plan(job, machine, Calibration(times=each), policy) for each in ({}, times))
    for field in ("fits", "quantization", "text_quantization", "vae_tile", "smallest_vram_bytes"):
        assert getattr(known, field) == getattr(fresh, field)


@pytest.mark.parametrize("factor", [0.1, 1, 10])
def test_a_card_that_was_slow_keeps_its_precision(factor):
    """Where streaming would hide behind computing that takes ten times as long."""
    quick_to_compute = model(
        component("unet", "denoiser", [100 * MB] * 40, live=1e3, work=2e7), component("vae", "vae", [], live=1e3)
    )
    known = Calibration(times={"sdxl/denoiser/none": factor})
    made = plan(task(quick_to_compute, steps=30), card(2 * GB, 64 * GB), known)
    assert made.quantization == plan(task(quick_to_compute, steps=30), card(2 * GB, 64 * GB)).quantization == "int8"


@quick
@given(tasks(), machines())
def test_a_tile_lowers_the_estimate(job, machine):
    whole, tiled = (
        plan(dataclasses.replace(job, vae_tile=tile), machine).phases[-1].activation_bytes for tile in (0, 256)
    )
    sides = (job.stages[-1].width, job.stages[-1].height)
    assert tiled < whole if max(sides) > 512 else tiled <= whole + sides[0] * sides[1] * 16


@given(tasks(), machines())
@settings(max_examples=10, deadline=None)
def test_a_plan_is_data(job, machine):
    made = plan(job, machine)
    assert from_json(Plan, to_json(made)) == made


@given(st.integers(0, 2**45), st.integers(2, 20))
def test_headroom_is_undone_exactly(need, divisor):
    size = with_headroom(need, divisor)
    assert size - size // divisor >= need
    assert not size or size - 1 - (size - 1) // divisor < need


def test_a_processor_without_a_limit_keeps_all_in_place_and_nothing_is_quantized():
    for policy in ("auto", "balanced", "fast"):
        made = plan(task(usual_model(), dtype="float32"), processor(32 * GB), policy=policy)
        assert (made.fits, made.quantization, made.text_quantization, made.vae_tile) == (True, "none", "none", 0)
        assert not any(part.slots for part in made.components)
        assert made.seconds == pytest.approx(made.seconds_resident)


def test_precision_is_lowered_when_streaming_would_make_it_slow_and_not_before():
    quick_to_compute = model(
        component("unet", "denoiser", [100 * MB] * 40, live=1e3, work=1e6), component("vae", "vae", [], live=1e3)
    )
    slow_to_compute = model(
        component("unet", "denoiser", [100 * MB] * 40, live=1e3, work=3e9), component("vae", "vae", [], live=1e3)
    )
    for one, wanted in ((quick_to_compute, "int4-lowrank"), (slow_to_compute, "none")):
        made = plan(task(one, steps=30), card(2 * GB, 64 * GB))
        assert (made.fits, made.quantization) == (True, wanted)
        assert wanted != "none" or made.seconds <= 2 * made.seconds_resident
    assert plan(task(quick_to_compute, steps=30), card(8 * GB, 64 * GB)).quantization == "none"


def test_balanced_is_less_patient_than_auto_and_lowest_takes_least():
    job = task(usual_model(), steps=20)
    machine = card(GB, 4 * GB, speed=2e14)
    tiers = {policy: plan(job, machine, policy=policy) for policy in ("auto", "balanced", "fast", "lowest")}
    assert quality(tiers["balanced"]) <= quality(tiers["auto"])
    assert tiers["fast"].seconds <= min(tiers["auto"].seconds, tiers["balanced"].seconds)
    assert tiers["lowest"].peak_vram_bytes == min(made.peak_vram_bytes for made in tiers.values())
    assert tiers["lowest"].quantization in ("int8", "int4-lowrank", "int4")


def test_what_is_asked_for_is_kept_to():
    job = task(usual_model(), quantization="int4", text_quantization="int8", vae_tile=512)
    for policy in ("auto", "fast", "lowest"):
        made = plan(job, card(24 * GB, 64 * GB), policy=policy)
        assert (made.quantization, made.text_quantization, made.vae_tile) == ("int4", "int8", 512)


def test_others_on_the_card_are_named_when_only_they_are_in_the_way():
    machine = card(8 * GB, 32 * GB)
    alone = plan(task(usual_model()), machine)
    made = plan(task(usual_model()), dataclasses.replace(machine, free_vram_bytes=100 * MB))
    assert alone.fits and not made.fits
    assert "close other programs" in made.reasons[0]
    lowest = plan(task(usual_model()), machine, policy="lowest")
    assert made.quantization == alone.quantization != lowest.quantization, (
        "it tells of the plan that would be carried out"
    )


def test_a_disk_serves_what_ram_does_not_hold():
    made = plan(task(usual_model()), card(24 * GB, 1200 * MB), policy="fast")
    assert made.fits
    assert "disk" in {part.host for part in made.components}


def test_pages_are_locked_first_for_what_is_streamed_in_every_step():
    """As of FLUX on 24 GB beside 64 GB: all of both networks is more than may be locked."""
    large = model(
        component("text_encoder", "text", [400 * MB] * 20, live=1e4, schemes=("none",)),
        component("unet", "denoiser", [500 * MB] * 30, live=1e4, work=4e8, schemes=("none",)),
        component("vae", "vae", [], outside=80 * MB),
    )
    machine = card(8 * GB, 64 * GB, pin_bytes=17 * GB)
    made = plan(task(large), machine)
    parts = {part.name: part for part in made.components}
    assert parts["unet"].slots
    streamed = 500 * MB * (parts["unet"].blocks - parts["unet"].resident_blocks)
    assert parts["unet"].pinned_bytes == streamed
    assert made.pinned_bytes == machine.pin_bytes
    assert 0 < parts["text_encoder"].pinned_bytes < parts["text_encoder"].bytes
    less = plan(task(large), dataclasses.replace(machine, pin_bytes=6 * GB))
    parts = {part.name: part for part in less.components}
    assert (parts["unet"].pinned_bytes, parts["text_encoder"].pinned_bytes) == (6 * GB, 0)
    assert made.seconds < less.seconds < plan(task(large), dataclasses.replace(machine, pin_bytes=0)).seconds


def test_loading_is_reading_and_locking_what_waits_in_ram():
    machine = card(3 * GB, 64 * GB, pin_bytes=0, disk_rate=1e9)
    job = task(usual_model(), quantization="none", text_quantization="none")
    made = plan(job, machine)
    read = sum(part.bytes for part in made.components) / 1e9
    assert read < made.seconds_loading < 1.1 * read, "what stays for good comes at once, too"
    locked = plan(job, dataclasses.replace(machine, pin_bytes=2 * GB))
    assert locked.seconds_loading == pytest.approx(made.seconds_loading + locked.pinned_bytes / 2e9, rel=0.05)
    from_disk = plan(job, dataclasses.replace(machine, free_ram_bytes=800 * MB))
    assert from_disk.fits and from_disk.seconds_loading < made.seconds_loading


def test_what_stays_on_the_card_leaves_locked_pages_to_what_moves():
    machine = card(3 * GB, 64 * GB, pin_bytes=400 * MB)
    made = plan(task(usual_model(), quantization="none", text_quantization="none"), machine)
    parts = {part.name: part for part in made.components}
    moving = {name for name, part in parts.items() if part.slots or set(part.phases) != {p.name for p in made.phases}}
    assert {name for name, part in parts.items() if part.pinned_bytes} <= moving
    assert made.pinned_bytes == min(400 * MB, sum(parts[name].bytes for name in moving))


def test_planning_needs_no_torch():
    code = (
        "import sys; import mezzotint.memory.planning.planner, mezzotint.memory.machine.probe;"
        "import mezzotint.memory.footprints.shipped;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
