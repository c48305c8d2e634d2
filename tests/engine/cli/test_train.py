"""`mezzotint train`: what is checked, trained, told, and gone on with."""

import json

import pytest
from training_runs import write_dataset

from mezzotint.cli import main

FEW = (
    *("--steps", "4", "--rank", "2", "--batch", "2", "--resolution", "64", "--epochs", "2", "--regularization", "0"),
    *("--device", "cpu", "--dtype", "float32"),
)


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main(["train", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def dataset(tmp_path):
    return write_dataset(tmp_path / "images")


def test_a_lora_comes_out_and_its_path_is_told(call, dataset, tmp_path, tiny_pixart_folder):
    code, out, err = call(dataset, "-m", tiny_pixart_folder, "-o", "mine", *FEW)
    assert code == 0 and out.strip() == str(tmp_path / "mine.safetensors")
    assert [line.split(":")[0] for line in err.splitlines() if line.startswith("epoch")] == [
        "epoch 1, step 2",
        "epoch 2, step 4",
    ]


def test_as_json(call, dataset, tmp_path, tiny_pixart_folder):
    code, out, _ = call(dataset, "-m", tiny_pixart_folder, "-o", "a/mine.safetensors", *FEW, "--json", "-q")
    result = json.loads(out)
    assert code == 0 and result["lora"] == str(tmp_path / "a" / "mine.safetensors") and result["steps"] == 4
    assert len(result["epochs"]) == 2


def test_dry_run_trains_nothing_and_shows_everything(call, dataset, tmp_path, tiny_pixart_folder):
    (dataset / "3.txt").unlink()
    (dataset / "broken.png").write_bytes(b"not an image")
    code, out, _ = call(dataset, "-m", tiny_pixart_folder, "-o", "mine", *FEW, "--dry-run")
    rows = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0 and (rows["steps"], rows["rank"]) == ("4", "2")
    assert rows["images"] == "4, 3 of them with captions" and rows["sizes"] == "4 at 64x64"
    assert "broken.png" in rows["error:"]
    code, out, _ = call(dataset, "-m", tiny_pixart_folder, "-o", "mine", *FEW, "--dry-run", "--json")
    assert json.loads(out)["images"] == 4
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


def test_what_is_finished_cannot_be_resumed_and_is_not_overwritten(call, dataset, tiny_pixart_folder):
    words = (dataset, "-m", tiny_pixart_folder, "-o", "mine", *FEW, "-q")
    assert call(*words)[0] == 0
    for again, told in ((words, "exists already"), (("--resume", "-o", "mine"), "is finished after 4 steps: prolong")):
        code, _, err = call(*again)
        assert code == 2 and told in err


def test_what_is_finished_is_prolonged_and_keeps_its_epochs(call, dataset, tmp_path, tiny_pixart_folder):
    assert call(dataset, "-m", tiny_pixart_folder, "-o", "mine", *FEW, "-q")[0] == 0
    before = (tmp_path / "mine.safetensors").read_bytes()
    code, _, err = call("--resume", "-o", "mine", "--steps", "7", "--rate", "0.002")
    assert code == 0 and "epoch 3, step 6" in err and "epoch 4, step 7" in err
    assert (tmp_path / "mine.safetensors").read_bytes() != before
    assert (tmp_path / "mine.training/epochs/mine-0002.safetensors").read_bytes() == before
    log = [json.loads(line) for line in (tmp_path / "mine.training/log.jsonl").read_text().splitlines()]
    assert [line["rate"] for line in log if "loss" in line][4:] == [0.002] * 3
    record = json.loads((tmp_path / "mine.training/training.json").read_text())
    assert (record["steps"], record["request"]["settings"]["rate"]) == (7, 0.002)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--rank", "8"), "keeps its --rank (it is 2)"),
        (("--steps", "9", "--kind", "dora", "--flip"), "keeps its --kind (it is lora), --flip (it is False)"),
        (("--trigger", "zibble"), "--trigger cannot be changed by --resume"),
        (("--steps", "3"), "4 steps are done already"),
    ],
)
def test_what_cannot_change_is_refused_by_name(call, dataset, tiny_pixart_folder, words, told):
    assert call(dataset, "-m", tiny_pixart_folder, "-o", "mine", *FEW, "-q")[0] == 0
    code, _, err = call("--resume", "-o", "mine", *words)
    assert code == 2 and told in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "mine"), "a folder of images and a model are needed"),
        (("images", "-m", "x", "-o", "mine", "--accept-changes"), "add --resume"),
        (("images", "-m", "x", "-o", "mine", "--resume"), "leave the folder of images, the model and --from out"),
        (("--resume", "-o", "mine"), "is not the folder of a training"),
        (("images", "-m", "nothing-like-it", "-o", "mine"), "No model is called 'nothing-like-it'"),
        (("images", "-m", "starter-dit", "-o", ".mine"), "it must be a file name"),
        (("images", "-m", "starter-dit", "-o", "mine", "--rate", "7"), "learning rate is 7"),
        (("nowhere", "-m", "starter-dit", "-o", "mine"), "is not a folder"),
    ],
)
def test_what_cannot_be_trained(call, dataset, words, told):
    code, out, err = call(*words)
    assert code != 0 and not out and told in err and "Traceback" not in err


@pytest.mark.parametrize("count", [0, 1])
def test_few_images(call, tmp_path, tiny_pixart_folder, count):
    write_dataset(tmp_path / "few", count)
    code, _, err = call(tmp_path / "few", "-m", tiny_pixart_folder, "-o", "mine", *FEW, "-q")
    assert (code == 0) == (count > 0) and (count or "no images" in err)
