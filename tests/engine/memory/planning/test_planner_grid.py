"""Plans for known models on a grid of ordinary machines, beside those that were looked at and found good.

`PYTHONPATH=engine python tests/engine/memory/planning/test_planner_grid.py` writes the plans of now into plans.json.
"""

import json
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.task import task_of

GB = 2**30
GOLDEN = Path(__file__).with_name("plans.json")
VRAM, RAM = (4, 6, 8, 12, 16, 24), (16, 32, 64)
MODELS = ("sdxl", "sdxl+refiner", "pixart", "sd3.5-large", "flux", "qwen-image")


@cache
def planned(model, vram, ram, policy="auto"):
    job = task_of([shipped(name) for name in model.split("+")])
    return plan(job, ordinary_machine(vram * GB, ram * GB), policy=policy)


def told(made):
    """What a plan decides, and its figures as finely as people read them."""
    return {
        "fits": made.fits,
        "quantization": made.quantization,
        "text_quantization": made.text_quantization,
        "vae_tile": made.vae_tile,
        "guidance": made.guidance,
        "peak_vram_gb": round(made.peak_vram_bytes / GB, 1),
        "peak_ram_gb": round(made.peak_ram_bytes / GB, 1),
        "slower": round(made.seconds / made.seconds_resident - 1, 2),
        "streamed": [part.name for part in made.components if part.slots],
        "read_from_disk": [part.name for part in made.components if part.host == "disk"],
    }


def grid():
    return {
        f"{model} on {vram} GB and {ram} GB": told(planned(model, vram, ram))
        for model, vram, ram in product(MODELS, VRAM, RAM)
    }


def test_plans_are_those_that_were_found_good():
    golden = json.loads(GOLDEN.read_text("utf-8"))
    now = grid()
    assert now.keys() == golden.keys()
    assert {name: one for name, one in now.items() if not alike(one, golden[name])} == {}


def alike(one, other):
    """Decisions are the same; figures may move by a little."""
    figures = {"peak_vram_gb": 0.2, "peak_ram_gb": 0.2, "slower": 0.03}
    near = all(abs(one[name] - other[name]) <= by for name, by in figures.items())
    return near and all(one[name] == other[name] for name in one if name not in figures)


@pytest.mark.parametrize(("model", "vram", "ram"), list(product(MODELS, VRAM, RAM)))
def test_every_known_model_has_a_plan_on_every_ordinary_machine(model, vram, ram):
    made = planned(model, vram, ram)
    assert made.fits
    assert made.peak_vram_bytes <= vram * GB
    assert made.peak_ram_bytes <= ram * GB
    assert made.seconds <= 3 * made.seconds_resident


@pytest.mark.parametrize(
    ("model", "vram", "most"),
    [("sdxl+refiner", 4, 3.6), ("flux", 8, 7.5), ("qwen-image", 12, 11.0)],
)
@pytest.mark.parametrize("ram", RAM)
def test_peaks_that_were_promised(model, vram, most, ram):
    assert planned(model, vram, ram).peak_vram_bytes <= most * GB


@pytest.mark.parametrize("ram", RAM)
def test_on_8_gb_neither_u_net_of_sdxl_and_refiner_is_streamed(ram):
    made = planned("sdxl+refiner", 8, ram)
    unets = [part for part in made.components if part.name == "unet"]
    assert [part.slots for part in unets] == [0, 0]
    assert made.seconds <= 1.01 * made.seconds_resident


@pytest.mark.parametrize("ram", RAM)
def test_on_8_gb_both_u_nets_stay_from_job_to_job_in_8_bits(ram):
    """A few blocks of the refiner pass through slots for that, beside computing."""
    made = planned("sdxl+refiner", 8, ram, "fast")
    unets = [part for part in made.components if part.name == "unet"]
    assert {part.quantization for part in unets} == {"int8"}
    assert all({"stage 1", "stage 2"} <= set(part.phases) for part in unets)
    assert all(part.resident_blocks >= 0.85 * part.blocks for part in unets)
    assert made.seconds <= 1.01 * made.seconds_resident


@pytest.mark.parametrize(("model", "vram", "ram"), list(product(MODELS, VRAM, RAM)))
def test_text_encoders_stay_only_beside_everything(model, vram, ram):
    made = planned(model, vram, ram)
    phases = {phase.name for phase in made.phases}
    in_place = all(set(part.phases) == phases and not part.slots for part in made.components)
    texts = [part for part in made.components if part.name.startswith("text")]
    assert in_place or all(part.phases == ("encode",) for part in texts)


@pytest.mark.parametrize("model", MODELS)
def test_8_gb_and_16_gb_of_ram_do(model):
    for policy in ("auto", "balanced", "fast", "lowest"):
        made = planned(model, 8, 16, policy)
        assert made.fits
        assert made.peak_ram_bytes <= 14 * GB


@pytest.mark.parametrize("model", MODELS)
def test_the_smallest_machine_is_named_exactly(model):
    job = task_of([shipped(name) for name in model.split("+")])
    made = plan(job, ordinary_machine(GB // 4, 4 * GB))
    assert not made.fits
    for less, fits in ((0, True), (1, False)):
        machine = ordinary_machine(made.smallest_vram_bytes - less, made.smallest_ram_bytes)
        assert plan(job, machine).fits == fits


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in grid().items())
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
