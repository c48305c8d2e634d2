"""`mezzotint bench linear`, its words and its forms; what is measured is held by the test."""

import json

import pytest

from mezzotint.benchmarks import products as benchmark
from mezzotint.benchmarks.product_shapes import GROUPS
from mezzotint.cli.interrupt import Interrupt


@pytest.fixture(autouse=True)
def _stopwatch(monkeypatch):
    monkeypatch.setattr(benchmark, "milliseconds", lambda calls, device: 2.0)


@pytest.fixture
def bench(command):
    return lambda *words, **more: command("bench", "linear", "--device", "cpu", *words, **more)


def test_the_table(bench):
    done = bench("--shapes", "pixart,rows")
    assert done.code == 0, done.err
    header, *rows = done.out.splitlines()
    assert header.split() == ["SHAPE", "IMPLEMENTATION", "MS", "RATE", "RATIO", "LORAS", "ERROR"]
    assert [row.split("  ")[0] for row in rows[:21:10]] == [
        "PixArt, 4096x1152 to 1152",
        "PixArt, 4096x1152 to 4608",
        "PixArt, 4096x4608 to 1152",
    ]
    assert "TOP/s" in rows[0] and "2.0000" in rows[0] and "GB/s" in rows[-1]
    assert "PixArt, 4096x1152 to 1152: 128 rows, 128 columns to 128" in done.err
    assert "only torch and the exact reference are measured" in done.err


def test_json_is_a_row_a_line(bench):
    done = bench("--shapes", "flux", "--json")
    rows = [json.loads(line) for line in done.out.splitlines()][:10]
    kinds = ("int8", "int8, 3 LoRAs", "int4-lowrank", "int4-codebook", "int4-rot", "svdquant", "fp8", "int8, gated")
    ours = [f"torch {kind}" for kind in kinds]
    names = ["torch linear", "torch._int_mm", *ours]
    assert [row["implementation"] for row in rows] == names
    assert all(row["milliseconds"] == 2.0 and row["group"] == "flux" for row in rows)


def test_without_words_everything_is_measured(bench):
    rows = [json.loads(line) for line in bench("--json", "-q").out.splitlines()]
    assert {row["group"] for row in rows} == set(GROUPS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shapes", "sdxl,sd9"], "'sd9' is not a group of shapes; expected one of sdxl, pixart"),
        (["--plot", "speed.png"], "unrecognized arguments"),
        (["--device", "cuda:99"], "cuda:99"),
    ],
)
def test_words_that_cannot_work_are_refused_in_one_line(bench, words, message):
    done = bench(*words)
    assert done.code in (2, 6)
    assert done.err.splitlines()[-1].startswith("mezzotint: error: ") and message in done.err


def test_ctrl_c_stops_between_measurements(bench, monkeypatch):
    interrupt = Interrupt(tell=lambda text: None, end=lambda code: pytest.fail("ended at once"))
    interrupt.enable_graceful_stop()
    monkeypatch.setattr(benchmark, "milliseconds", lambda calls, device: interrupt.handle(2, None) or 2.0)
    done = bench("--shapes", "pixart", "--json", interrupt=interrupt)
    assert done.code == 130
    assert json.loads(done.out.splitlines()[-1])["error"]["kind"] == "cancelled"
