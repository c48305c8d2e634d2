"""Which limits are tried, which run counts, and what a limit that cannot be kept to gives."""

import contextlib
import io
from dataclasses import replace

import pytest
from fake_engine import FakeEngine

from mezzotint.cli.bench.memory_cells import BenchCase, BenchSettings, CellBench, is_near
from mezzotint.cli.context import Context
from mezzotint.cli.interrupt import Interrupt
from mezzotint.cli.terminal import Terminal
from mezzotint.errors import OutOfMemory
from mezzotint.protocol import MemoryReport, PhaseMemory, Plan, Timings

SUBJECT = BenchCase(models=("base", "refiner"), width=64, height=96)
PLAN = Plan(
    fits=True,
    memory="auto",
    vram_bytes=1000,
    ram_bytes=1000,
    peak_vram_bytes=900,
    peak_ram_bytes=900,
    pinned_bytes=0,
    components=(),
    phases=(),
    guidance="batched",
    vae_tile=0,
    quantization="none",
    text_quantization="none",
    seconds=1.0,
    seconds_resident=1.0,
    smallest_vram_bytes=400,
    smallest_ram_bytes=100,
    reasons=("it fits",),
)


class Engine(FakeEngine):
    """Each run takes a second more and a byte less than the one before; too small a limit is refused."""

    def generate(self, request, on_event, cancelled):
        result = super().generate(request, on_event, cancelled)
        if request.vram_limit_bytes is not None and request.vram_limit_bytes < PLAN.smallest_vram_bytes:
            raise OutOfMemory("no plan fits 300 bytes")
        number = len(self.requests)
        phase = PhaseMemory(name="decode", predicted_bytes=100, measured_bytes=100 - number)
        timings = Timings(load=9.0, encode=0.25, denoise=(float(number), 0.5), decode=0.25, save=9.0, total=20.0)
        return replace(
            result,
            plan=PLAN,
            timings=timings,
            memory=MemoryReport(peak_ram_bytes=1, peak_vram_bytes=1, phases=(phase,)),
        )


@pytest.fixture
def measure(tmp_path):
    def call(**how):
        engine = Engine()
        context = Context(terminal=Terminal(io.StringIO(), io.StringIO()), interrupt=Interrupt(end=lambda code: None))
        values = {"steps": 5, "repeats": 3, "device": "cpu", "limits": (), "plenty": 5000} | how
        return list(
            CellBench(engine, context, BenchSettings(**values), str(tmp_path)).measure(SUBJECT)
        ), engine.requests

    return call


def test_three_limits_from_the_least_that_works_to_what_holds_everything(measure):
    cells, requests = measure()
    assert [cell.limit_bytes for cell in cells] == [None, 400, 600, 800]
    assert [request.vram_limit_bytes for request in requests[::4]] == [5000, 400, 600, 800]
    stages = requests[0].cascade.stages
    assert [stage.model.id for stage in stages] == ["base", "refiner"]
    assert (stages[0].width, stages[0].height, stages[0].sampling.steps) == (64, 96, 5)


def test_the_first_run_is_not_timed_and_its_peak_counts(measure):
    whole, first, *_ = measure()[0]
    assert whole.seconds == 3 + 1  # of 2, 3 and 4
    assert first.seconds == 7 + 1 and first.ratio == 2.0
    assert whole.phases[0].measured_bytes == whole.measured_bytes == 99
    assert first.measured_bytes == 95


def test_a_limit_too_small_is_told_and_the_others_are_measured(measure):
    cells, _ = measure(limits=(300, 700))
    assert (cells[1].problem, cells[1].measured_bytes) == ("no plan fits 300 bytes", None)
    assert cells[2].limit_bytes == 700 and cells[2].problem is None


def test_a_card_is_held_while_a_limit_is_measured(measure):
    held = []

    @contextlib.contextmanager
    def ballast(left):
        held.append(left)
        yield
        held.append(-left)

    _, requests = measure(limits=(500,), plenty=None, ballast=ballast)
    assert held == [500, -500] and requests[0].vram_limit_bytes is None


@pytest.mark.parametrize(("measured", "near"), [(90, True), (110, True), (89, False), (111, False)])
def test_near(measured, near):
    assert is_near(100, measured) is near
