"""Facts about a machine, of every kind of machine."""

import dataclasses
import sys

import pytest

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.probe import (
    CONTEXT,
    Card,
    Ram,
    Surroundings,
    machine_facts,
    measured_rates,
    ordinary_machine,
    pin_budget,
    sample_file,
    usual_dtype,
)
from mezzotint.memory.machine.ram_limits import Bound
from mezzotint.memory.machine.speeds import (
    ARCHITECTURES,
    LINKS,
    ORDINARY,
    Link,
    of_architecture,
    speed_of,
)

GB = 2**30
CARD = Card(
    name="RTX 3060",
    architecture="sm_86",
    total_bytes=12 * GB,
    free_bytes=9 * GB,
    reclaimable_bytes=GB,
    processors=28,
)


def around(**changes):
    values = {
        "platform": "linux",
        "is_wsl": lambda: False,
        "ram": lambda: Ram(total_bytes=32 * GB, available_bytes=20 * GB, ours_bytes=2 * GB),
        "bounds": lambda: (),
        "card": lambda index: CARD,
        "cores": lambda: 8,
    }
    return Surroundings(**values | changes)


def test_a_card():
    facts = machine_facts("cuda:0", surroundings=around())
    assert (facts.vram_bytes, facts.free_vram_bytes) == (12 * GB, 10 * GB + CONTEXT)
    assert (facts.ram_bytes, facts.free_ram_bytes) == (32 * GB, 22 * GB)
    assert (facts.copy_rate, facts.pageable_rate) == (LINKS[4].pinned, LINKS[4].pageable)
    assert facts.speed == speed_of(of_architecture("sm_86"), 28)
    assert not facts.one_memory
    assert not facts.simulated
    assert any("other programs use 1.5 GB" in note for note in facts.notes)
    assert (facts.expected_of, facts.link_measured) == ("sm_86 and PCIe 4", False)


def test_which_card_is_asked():
    asked = []
    machine_facts("cuda:3", surroundings=around(card=lambda index: asked.append(index) or CARD))
    machine_facts("cuda", surroundings=around(card=lambda index: asked.append(index) or CARD))
    assert asked == ["cuda:3", "cuda"]


def test_limits_bind_and_what_is_above_the_machine_is_clipped_and_told():
    bound = machine_facts("cuda:0", vram_limit=6 * GB, ram_limit=8 * GB, surroundings=around())
    assert (bound.vram_bytes, bound.free_vram_bytes) == (6 * GB, 6 * GB)
    assert (bound.ram_bytes, bound.free_ram_bytes) == (8 * GB, 8 * GB)
    above = machine_facts("cuda:0", vram_limit=24 * GB, ram_limit=64 * GB, surroundings=around())
    assert (above.vram_bytes, above.ram_bytes) == (12 * GB, 32 * GB)
    told = " ".join(above.notes)
    assert "24.0 GB exceeds the GPU's memory: using 12.0 GB" in told
    assert "64.0 GB exceeds RAM: using 32.0 GB" in told


def test_what_was_measured_counts():
    known = Calibration(copy_rate=2e10, pageable_rate=5e9, disk_rate=3e9)
    facts = machine_facts("cuda:0", calibration=known, surroundings=around())
    assert (facts.copy_rate, facts.pageable_rate, facts.disk_rate) == (2e10, 5e9, 3e9)
    assert facts.link_measured


def test_a_control_group_counts_and_what_others_in_it_use():
    bounds = [Bound(name="its cgroup", limit=8 * GB, used=7 * GB)]
    facts = machine_facts("cpu", surroundings=around(bounds=lambda: bounds))
    assert (facts.ram_bytes, facts.free_ram_bytes) == (8 * GB, 3 * GB)
    assert "RAM is limited to 8.0 GB by its cgroup" in facts.notes


def test_a_processor_and_a_simulated_card_on_it():
    plain = machine_facts("cpu", surroundings=around())
    assert (plain.vram_bytes, plain.free_vram_bytes, plain.context_bytes) == (32 * GB, 22 * GB, 0)
    assert (plain.one_memory, plain.simulated, plain.pin_bytes) == (True, False, 0)
    kept = around(ram=lambda: Ram(total_bytes=32 * GB, available_bytes=8 * GB, ours_bytes=14 * GB))
    assert machine_facts("cpu", surroundings=kept) == plain
    limited = machine_facts("cpu", vram_limit=GB, surroundings=around())
    assert (limited.vram_bytes, limited.free_vram_bytes, limited.simulated) == (GB, GB, True)


SHARED = dataclasses.replace(CARD, total_bytes=21 * GB, free_bytes=20 * GB, reclaimable_bytes=GB, shares_ram=True)


@pytest.mark.parametrize(
    ("device", "architecture"),
    [("mps", "apple"), ("xpu:0", "xe"), ("cuda:0", "gfx1103")],
    ids=["apple", "intel", "amd"],
)
def test_a_gpu_in_the_machine_s_memory(device, architecture):
    shared = dataclasses.replace(SHARED, architecture=architecture)
    busy = Ram(total_bytes=32 * GB, available_bytes=6 * GB, ours_bytes=GB)
    facts = machine_facts(device, surroundings=around(card=lambda name: shared, ram=lambda: busy))
    assert (facts.one_memory, facts.pin_bytes, facts.context_bytes, facts.simulated) == (True, 0, 0, False)
    assert (facts.vram_bytes, facts.free_vram_bytes) == (21 * GB, 7 * GB)
    assert facts.speed == speed_of(of_architecture(architecture), 28)
    limited = machine_facts(device, vram_limit=4 * GB, surroundings=around(card=lambda name: shared))
    assert (limited.vram_bytes, limited.free_vram_bytes, limited.simulated) == (4 * GB, 4 * GB, False)


def test_a_card_of_intel_s_has_its_own_memory_and_no_locked_pages():
    facts = machine_facts("xpu:0", surroundings=around(card=lambda name: dataclasses.replace(CARD, architecture="xe")))
    assert (facts.one_memory, facts.pin_bytes, facts.vram_bytes) == (False, 0, 12 * GB)
    assert facts.int8_speedup < 1


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"platform": "linux"}, 32 * GB * 2 // 5),
        ({"platform": "win32"}, 12 * GB),
        ({"platform": "darwin"}, 0),
        ({"platform": "linux", "is_wsl": lambda: True}, GB // 2),
    ],
    ids=["linux", "windows", "macos", "wsl"],
)
def test_what_may_be_page_locked_is_the_system_s_to_say(changes, wanted):
    assert pin_budget(around(**changes), 32 * GB, 12 * GB) == wanted


def test_rates_are_measured_once_and_only_when_they_can_be():
    link, disk = (lambda: Link(pinned=2e10, pageable=3e10)), (lambda: 1e9)
    known = measured_rates(Calibration(), link, disk)
    assert (known.copy_rate, known.pageable_rate, known.disk_rate) == (2e10, 2e10, 1e9)

    def never():
        raise AssertionError("measured again")

    assert measured_rates(known, never, never) == known
    assert measured_rates(Calibration(), lambda: None, lambda: None) == Calibration()


def test_an_ordinary_machine_says_that_its_figures_are_expected():
    facts = ordinary_machine(8 * GB, 16 * GB)
    assert (facts.architecture, facts.vram_bytes, facts.ram_bytes) == (ORDINARY, 8 * GB, 16 * GB)
    assert facts.expected_of == "a typical GPU (sm_86, PCIe 4)"


def test_a_card_with_a_name_is_as_fast_as_that():
    facts = ordinary_machine(24 * GB, 64 * GB, known_card("RTX 4090"))
    assert (facts.device_name, facts.speed) == ("RTX 4090", speed_of(of_architecture("sm_89"), 128))
    intel = ordinary_machine(16 * GB, 64 * GB, known_card("Arc A770"))
    assert (intel.device, intel.pin_bytes, intel.one_memory) == ("xpu:0", 0, False)


def test_numbers_are_those_that_a_device_is_good_at():
    facts = ordinary_machine(8 * GB, 16 * GB)
    assert usual_dtype(facts) == "bfloat16"
    assert usual_dtype(dataclasses.replace(facts, architecture="sm_75")) == "float16"
    assert usual_dtype(dataclasses.replace(facts, device="cpu")) == "float32"
    assert usual_dtype(dataclasses.replace(facts, device="mps")) == "float16"


@pytest.mark.parametrize(
    ("name", "known"),
    [("sm_86", "sm_86"), ("sm_87", "sm_86"), ("sm_121", "sm_120"), ("sm_70", ORDINARY), ("", ORDINARY)],
)
def test_architectures_that_are_not_listed_are_like_the_one_before(name, known):
    assert of_architecture(name) == ARCHITECTURES[known]


def test_the_largest_file_is_the_sample(tmp_path):
    for name, length in (("a", 3), ("b", 5)):
        (tmp_path / name).write_bytes(bytes(length))
    assert sample_file([tmp_path / "a", tmp_path / "b", tmp_path / "gone"]) == tmp_path / "b"
    assert sample_file([]) is None


def test_this_very_machine_has_sensible_facts():
    facts = machine_facts("cpu")
    assert 0 < facts.free_ram_bytes <= facts.ram_bytes
    assert facts.vram_bytes == facts.ram_bytes
    assert 0 < facts.process_bytes < facts.ram_bytes
    assert Surroundings().platform == sys.platform
