"""`mezzotint bench memory`: a real model once, and what is told of cells."""

import json

import pytest
from PIL import Image

from mezzotint.cli import main
from mezzotint.cli.bench.memory import summary, table
from mezzotint.cli.bench.memory_cells import MemoryCell
from mezzotint.protocol import PhaseMemory

MIB = 2**20


def run(capsys, *words):
    code = main(["bench", "memory", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def cell(limit=20, predicted=10, measured=10, **changes):
    phases = (PhaseMemory(name="decode", predicted_bytes=predicted * MIB, measured_bytes=measured * MIB),)
    values = {
        "model": "starter-xl",
        "width": 128,
        "height": 128,
        "method": "mezzotint",
        "limit_bytes": limit and limit * MIB,
        "phases": phases,
        "predicted_bytes": predicted * MIB,
        "measured_bytes": measured * MIB,
        "seconds": 1.5,
        "ratio": 1.25,
    }
    return MemoryCell(**values | changes)


@pytest.mark.slow
def test_a_model_under_limits(capsys, tmp_path):
    plot = tmp_path / "peaks.png"
    few = ("--size", "128x128", "--steps", "2", "--repeats", "1")
    code, out, err = run(capsys, "-m", "starter-xl", *few, "--json", "--plot", str(plot))
    assert code == 0, err
    found = json.loads(out)
    assert found["simulated"] and "simulated, on the processor" in err
    whole, *limited = found["cells"]
    assert whole["limit_bytes"] is None and whole["ratio"] == 1.0 and len(limited) == 3
    assert [each["limit_bytes"] for each in limited] == sorted(each["limit_bytes"] for each in limited)
    assert limited[0]["measured_bytes"] < whole["measured_bytes"]
    for each in found["cells"]:
        assert [phase["name"] for phase in each["phases"]] == ["encode", "stage 1", "decode"]
        assert each["measured_bytes"] == max(phase["measured_bytes"] for phase in each["phases"])
        plain = (each["guidance"], each["precision"], each["text_precision"]) == ("batched", "none", "none")
        assert each["same_image"] or not plain
    assert found["summary"]["within_limit"] == found["summary"]["limited_cells"] == 3
    assert found["summary"]["peaks_within_a_tenth"] == 4
    assert Image.open(plot).format == "PNG"


def test_a_limit_that_is_too_small_is_a_row_that_says_so(capsys):
    few = ("--size", "128x128", "--steps", "2", "--repeats", "1")
    code, out, err = run(capsys, "-m", "starter-xl", *few, "--limit", "2MB")
    assert code == 0, err
    assert "the minimum is" in out.splitlines()[2]
    assert "0 of 0 stayed within their limit" in out


def test_what_is_summed_up():
    cells = [cell(), cell(limit=None), cell(limit=9), cell(predicted=8), cell(measured_bytes=None, phases=())]
    assert summary(cells) == {
        "limited_cells": 3,
        "within_limit": 2,
        "predicted_cells": 4,
        "peaks_within_a_tenth": 3,
        "phases": 4,
        "phases_within_a_tenth": 3,
    }


def test_the_table():
    first = PhaseMemory(name="stage 1", predicted_bytes=8 * MIB, measured_bytes=9 * MIB)
    cells = [
        cell(limit=None, precision="none", blocks="9 of 9", same_image=True),
        cell(
            limit=9,
            measured=12,
            precision="int8",
            text_precision="none",
            tile=512,
            guidance="sequential",
            same_image=False,
        ),
        cell(phases=(first,), recoveries=("caches were freed",), same_image=False),
    ]
    header, whole, above, short = table(cells).splitlines()
    names = "MODEL SIZE LIMIT PRECISION BLOCKS STAGE 1 DECODE PEAK SECONDS RATIO IMAGE"
    assert " ".join(header.split()) == names
    assert "10.0 > 10.0 MB +0 %" in whole and whole.split()[-1] == "same"
    assert (
        "int8, tiles of 512, text encoder none, sequential" in above
        and "12.0 MB ABOVE" in above
        and above.split()[-1] == "different"
    )
    assert "8.0 > 9.0 MB +12 %" in short and short.endswith("different  caches were freed")


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("--plot", "peaks.gif"), "ends in .png"), (("-m", "nobody"), "nobody"), (("--limit", "2"), "memory")],
)
def test_what_cannot_be_is_told(capsys, words, reason):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert reason in err
