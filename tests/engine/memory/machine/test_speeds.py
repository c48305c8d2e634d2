"""Expected times beside those that others published for torch as it comes: none is further away than 1.3 times.

`docs/quality.md` shows the same table.
"""

from dataclasses import dataclass, replace

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.memory.machine.speeds import computing_of, of_architecture
from mezzotint.memory.planning.problem import Problem
from mezzotint.memory.planning.task import task_of

GB = 2**30
L20 = computing_of(of_architecture("sm_89"), 92)


@dataclass(frozen=True, kw_only=True)
class Published:
    """Seconds of a job with everything on the card, or of one step of several images at once."""

    card: str
    model: str = "sdxl"
    seconds: float
    steps: int
    batch: int = 1
    size: tuple[int, int] = (1024, 1024)
    source: str

    @property
    def name(self):
        return f"{self.model} on {self.card}, {self.source}"


LCM = "huggingface/blog lcm_lora.md"
TENSORRT = "huggingface.co/stabilityai/stable-diffusion-xl-1.0-tensorrt"
STABLE_FAST = "chengzeyi/stable-fast#63"
SGLANG = "sgl-project/sglang#19673"
PUBLISHED = (
    Published(card="RTX 2080 Ti", seconds=10.2, steps=25, source=LCM),
    Published(card="RTX 3060", seconds=2.78, steps=1, batch=4, size=(832, 1216), source=STABLE_FAST),
    Published(card="RTX 3090", seconds=7.0, steps=25, source=LCM),
    Published(card="RTX 4060 Ti", seconds=1.86, steps=1, batch=4, size=(832, 1216), source=STABLE_FAST),
    Published(card="RTX 4090", seconds=3.4, steps=25, source=LCM),
    Published(card="A100", seconds=5.93, steps=50, source="fal-ai/stable-diffusion-benchmarks"),
    Published(card="A100", seconds=3.70, steps=30, source=TENSORRT),
    Published(card="H100", seconds=2.50, steps=30, source=TENSORRT),
    Published(card="L20", model="flux", seconds=23.6, steps=28, source=SGLANG),
    Published(card="H200", model="flux", seconds=5.58, steps=28, source=SGLANG),
)


def machine(name):
    card = known_card(name)
    if card is not None:
        return ordinary_machine(card.vram_bytes, 64 * GB, card)
    return replace(ordinary_machine(48 * GB, 64 * GB, known_card("RTX 4090")), **L20)


def expected(published):
    width, height = published.size
    task = task_of([shipped(published.model)], width=width, height=height, steps=published.steps)
    stages = tuple(replace(stage, batch=published.batch) for stage in task.stages)
    problem = Problem(replace(task, stages=stages, count=published.batch), machine(published.card), Calibration())
    parts = problem.parts("batched", 0)
    if published.steps == 1:
        parts = tuple(part for part in parts if part.component.role == "denoiser")
    return sum(problem.resident_seconds(part, "none") for part in parts)


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda one: one.name)
def test_expected_times_are_near_published_ones(published):
    assert 1 / 1.3 < expected(published) / published.seconds < 1.3


def step(card, **changes):
    facts = replace(machine(card), **changes)
    problem = Problem(task_of([shipped("sdxl")], steps=1), facts, Calibration())
    return next(problem.resident_seconds(p, "none") for p in problem.parts("batched", 0) if p.key == "sdxl/unet")


def test_no_card_is_faster_than_the_host_starts_its_work():
    assert step("H200") == step("B200") == step("B200", speed=1e18) > 10 * step("B200", launch_seconds=0.0, speed=1e18)
    assert step("RTX 4090") > step("H200")


def test_no_pass_is_faster_than_its_weights_are_read():
    weights = shipped("sdxl").denoiser.bytes("none")
    assert step("RTX 4090", launch_seconds=0.0, speed=1e18) == pytest.approx(weights / machine("RTX 4090").bandwidth)
