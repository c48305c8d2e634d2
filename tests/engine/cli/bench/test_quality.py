"""`mezzotint bench quality` over the bundled models, a few steps of a few images."""

import json
from types import SimpleNamespace

import pytest
from PIL import Image

from mezzotint.checkpoints.plain_text import size
from mezzotint.cli import main
from mezzotint.cli.bench import quality, scheme_memory
from mezzotint.errors import UnknownModel

FEW = ("bench", "quality", "--prompts", "2", "--steps", "4")


def run(capsys, *words):
    code = main([*FEW, *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.slow
def test_what_is_lost_and_saved(capsys, tmp_path):
    plot = tmp_path / "loss.png"
    code, out, err = run(capsys, "-m", "starter-dit", "--schemes", "int8,int4", "--json", "--plot", str(plot))
    assert code == 0, err
    found = json.loads(out)["models"]["starter-dit"]
    assert list(found) == ["none", "int8", "int4"]
    assert found["none"]["fidelity"] is None
    near, far = found["int8"]["fidelity"], found["int4"]["fidelity"]
    assert 99 >= near["psnr"] > far["psnr"] + 6 > 20
    assert near["worst_psnr"] <= near["psnr"]
    assert 0 < near["features"] < far["features"] < 1
    assert near["accuracy"]["low"] <= near["accuracy"]["difference"] <= near["accuracy"]["high"]
    sizes = [found[scheme]["weight_bytes"] for scheme in ("none", "int8", "int4")]
    assert sizes[0] > 1.5 * sizes[1] > 1.8 * sizes[2] > 0
    assert Image.open(plot).format == "PNG"
    peaks = [found[scheme]["peak_bytes"] for scheme in ("none", "int8", "int4")]
    assert all(50 * 2**20 < peak < 16 * 2**30 for peak in peaks)  # torch alone is more than the first


@pytest.mark.slow
def test_the_table(capsys, monkeypatch):
    peaks, asked = {"none": 5 * 2**20, "int8-weight": None}, []

    def peak(request, folders, cancelled):
        asked.append(request.cascade.stages[0].model.id)
        return peaks[request.quantization]

    monkeypatch.setattr(scheme_memory, "peak_in_own_process", peak)
    code, out, err = run(capsys, "-m", "starter-xl", "--schemes", "int8-weight")
    assert code == 0, err
    header, none, scheme = out.splitlines()
    columns = ["PSNR", "WORST", "FEATURES", "ACCURACY", "WEIGHTS", "SHARE", "MEMORY", "SECONDS"]
    assert header.split() == ["starter-xl", *columns]
    assert none.split()[0] == "none"
    assert none.split()[-4:-1] == ["100%", *size(5 * 2**20).split()]
    assert scheme.split()[-2].endswith("%")  # a process that ended early tells nothing
    assert asked == ["starter-xl"] * 2
    assert scheme.split()[0] == "int8-weight"
    assert float(scheme.split()[1]) > 30


@pytest.mark.slow
def test_8_bit_attention_is_simulated_on_a_processor(capsys):
    size = ("--size", "256x256", "-m", "starter-dit", "--device", "cpu", "--json")
    code, out, err = run(capsys, *size, "--speed", "attention=int8,attention=int8-all")
    assert code == 0, err
    found = json.loads(out)["models"]["starter-dit"]
    scores, values = (found[f"attention={name}"]["fidelity"]["psnr"] for name in ("int8", "int8-all"))
    assert 99 > scores > values > 25


def test_layers_are_told_without_images(capsys):
    code, out, err = run(capsys, "-m", "starter-dit", "--layers", "--schemes", "int8,int4")
    assert code == 0, err
    name, header, *rows = out.splitlines()
    assert (name, header.split()) == ("starter-dit", ["LAYER", "int8", "int4"])
    assert len(rows) == 60
    for row in rows:
        eight, four = (float(cell.rstrip("%")) for cell in row.split()[1:])
        assert 0 < eight < 2 < four < 15


def test_refiners_alone_are_no_models_to_measure():
    refiner = SimpleNamespace(id="r", source="bundled", problem=None, variant="refiner")
    catalog = SimpleNamespace(models=lambda: (refiner,))
    with pytest.raises(UnknownModel, match="no bundled model"):
        quality._models((), catalog)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--schemes", "int3"), "'int3' is not a scheme"),
        (("--plot", "loss.gif"), "ends in .png"),
        (("-m", "nobody"), "nobody"),
    ],
)
def test_what_cannot_be_is_told(capsys, words, reason):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert reason in err
