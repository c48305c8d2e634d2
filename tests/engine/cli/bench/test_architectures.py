"""`mezzotint bench architectures`, its words and its forms."""

import json

import pytest

from mezzotint.benchmarks.architectures import scaling
from mezzotint.cli import main


@pytest.fixture
def bench(capsys, monkeypatch):
    monkeypatch.setattr(scaling, "milliseconds", lambda calls, device: 2.0)
    monkeypatch.setattr(scaling, "TOKENS", (1024, 2048, 4096))

    def run(*words):
        code = main(["bench", "architectures", *words])
        said = capsys.readouterr()
        assert code == 0, said.err
        return said

    return run


def test_claims_alone(bench):
    rows = {line.split("  ")[0]: line for line in bench().out.splitlines()}
    assert rows["grouped 3x3, 4 groups"].split()[-3:] == ["0.25", "0.25", "holds"]
    assert "does not hold" in rows["bottleneck, r = 4"]


def test_scaling_is_printed_and_plotted(bench, tmp_path):
    plot = tmp_path / "scaling.svg"
    done = bench("--scaling", "--most-tokens", "2048", "--plot", str(plot))
    assert "performer: 2048 tokens" in done.err
    slope = next(line for line in done.out.splitlines() if line.split()[:3] == ["dense", "2.00", "2.00"])
    assert slope.split()[-1] == "0.00"
    assert "performer" in plot.read_text("utf-8") and "4096 tokens" not in done.err


@pytest.mark.slow
def test_models_beside_the_first(bench):
    """Sparse kinds are counted as they run, not as they are traced for plans."""
    words = ("-m", "starter-trunk", "-m", "starter-local", "--size", "128x128")
    done = bench(*words, "--prompts", "2", "--steps", "1", "--json", "-q")
    found = json.loads(done.out)
    dense, local = found["models"]
    assert (dense["model"], dense["fidelity"]) == ("starter-trunk", None)
    assert 3.9e6 < dense["parameters"] < 4.1e6 and 0.2e9 < dense["operations"] < 1e9
    attention = 6 * 4 * 64 * 64 * 192  # of dense kinds; windows of 16 tokens need a fourth, shifted ones a little more
    assert 0.65 * attention < dense["operations"] - local["operations"] < 0.75 * attention
    assert found["slopes"] == [] and found["claims"]


@pytest.mark.slow
def test_models_side_by_side(bench, tiny_pixart_folder):
    done = bench(
        *("-m", "starter-dit", "-m", str(tiny_pixart_folder), "--prompts", "2", "--steps", "1", "--size", "64x64")
    )
    header, first, second = done.out.split("\n\n")[0].splitlines()
    assert header.split()[:2] == ["MODEL", "OBJECT"]
    assert first.startswith("starter-dit") and " M " in second
    place = header.index("PSNR")
    assert first[place : place + 4].strip() == "" and 0 < float(second[place : place + 4]) < 40
