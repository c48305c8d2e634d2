"""`mezzotint bench attention`, its words and its forms; what is measured is held by the test."""

import json

import pytest
from PIL import Image

from mezzotint.benchmarks import attention as benchmark
from mezzotint.benchmarks.attention_shapes import GROUPS
from mezzotint.cli.interrupt import Interrupt


@pytest.fixture(autouse=True)
def _stopwatch(monkeypatch):
    monkeypatch.setattr(benchmark, "milliseconds", lambda calls, device, captured: 2.0)


@pytest.fixture
def bench(command):
    return lambda *words, **more: command("bench", "attention", "--device", "cpu", *words, **more)


def test_the_table(bench):
    done = bench("--shapes", "vae,pixart")
    assert done.code == 0, done.err
    header, *rows = done.out.splitlines()
    assert header.split() == ["SHAPE", "IMPLEMENTATION", "MS", "TFLOP/S", "RATIO", "ERROR", "MEMORY"]
    assert [row.split("  ")[0] for row in rows[::3]] == [
        "PixArt-Sigma",
        "autoencoder, 512x512",
        "autoencoder, 1024x1024",
        "Qwen-Image's autoencoder",
    ]
    assert "2.000" in rows[0] and "1.00" in rows[2]
    assert "PixArt-Sigma: 256 queries, 256 keys, heads of 72" in done.err
    assert done.err.count("PixArt-Sigma") == 1
    assert "only torch's own attention is measured" in done.err


def test_json_is_a_row_a_line(bench):
    done = bench("--shapes", "pixart", "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["implementation"] for row in rows] == ["sdpa flash", "sdpa math", "reference"]
    assert all(row["milliseconds"] == 2.0 and row["shape"] == "PixArt-Sigma" for row in rows)


def test_without_words_everything_is_measured(bench):
    rows = [json.loads(line) for line in bench("--json", "-q").out.splitlines()]
    assert {row["group"] for row in rows} == set(GROUPS)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_chart(bench, tmp_path, suffix):
    file = tmp_path / f"speed.{suffix}"
    assert bench("--shapes", "pixart", "-q", "--plot", str(file)).code == 0
    if suffix == "png":
        assert Image.open(file).width == 920
    else:
        assert "PixArt-Sigma" in file.read_text("utf-8") and "sdpa math" in file.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shapes", "sdxl,sd9"], "'sd9' is not a group of shapes; expected one of sdxl, pixart"),
        (["--shapes", ""], "'' is not a group"),
        (["--plot", "speed.pdf"], "'speed.pdf' is not a plot; expected a name that ends in .svg or .png"),
        (["--prompts", "3"], "unrecognized arguments"),
        (["--device", "cuda:99"], "cuda:99"),
    ],
)
def test_words_that_cannot_work_are_refused_in_one_line(bench, words, message):
    done = bench(*words)
    assert done.code in (2, 6)
    assert done.err.splitlines()[-1].startswith("mezzotint: error: ") and message in done.err


def test_a_chart_that_cannot_be_written_is_told(bench, tmp_path):
    done = bench("--shapes", "pixart", "--plot", str(tmp_path / "nowhere" / "speed.svg"))
    assert done.code == 7 and "nowhere" in done.err


def test_ctrl_c_stops_between_measurements(bench, monkeypatch):
    interrupt = Interrupt(tell=lambda text: None, end=lambda code: pytest.fail("ended at once"))
    interrupt.enable_graceful_stop()
    monkeypatch.setattr(benchmark, "milliseconds", lambda calls, device, captured: interrupt.handle(2, None) or 2.0)
    done = bench("--shapes", "pixart", "--json", interrupt=interrupt)
    assert done.code == 130
    assert json.loads(done.out.splitlines()[-1])["error"]["kind"] == "cancelled"
