"""Runs as they are on disk, whatever is missing or damaged."""

import json

import pytest

from mezzotint.errors import ModelRefused, UsageError
from mezzotint.jobs.training import runs
from mezzotint.jobs.training.folder import RunFolder
from mezzotint.jobs.training.runs import read_run, read_runs, resumed_request, thinned
from mezzotint.training_protocol import TrainingLoss


@pytest.fixture
def begun(request_for):
    """Make the folder of a run with some lines in its log."""

    def make(name, started="2026-01-02T03:04:05+00:00", lines=()):
        request = request_for("starter-dit", name=name, prompts=("a zibble", "a barn"))
        folder = RunFolder.of(request)
        folder.create(request, {"dataset": "", "started": started, "steps": 40})
        for line in lines:
            folder.log(line)
        return folder

    return make


def step(number):
    return {"step": number, "loss": 1 / number, "rate": 1e-3, "seconds": 0.25}


def test_the_newest_comes_first_and_damaged_ones_are_left_out(begun, tmp_path):
    begun("old")
    begun("new", started="2026-03-02T03:04:05+00:00")
    (begun("broken").path / "training.json").write_text("{", "utf-8")
    (tmp_path / "loras" / "empty.training").mkdir()
    found = read_runs([str(tmp_path / "loras"), str(tmp_path / "absent")])
    assert [one.request.name for one in found] == ["new", "old"]
    assert [one.request.name for one in read_runs([str(tmp_path / "loras" / "old.training")])] == ["old"]


def test_a_run_without_a_step(begun):
    found = read_run(begun("castle").path)
    assert (found.step, found.steps, found.losses, found.epochs, found.seconds) == (0, 40, (), (), 0.0)


def test_losses_and_time_are_from_the_log(begun):
    folder = begun("castle", lines=[step(1), step(2)])
    with (folder.path / "log.jsonl").open("a") as file:
        file.write('{"step": 3, "lo')  # cut off
    found = read_run(folder.path)
    assert found.step == 2 and found.seconds == 0.25
    assert found.losses == (TrainingLoss(step=1, loss=1.0), TrainingLoss(step=2, loss=0.5))


def test_an_epoch_whose_file_is_gone_is_left_out(begun):
    line = {"type": "EpochSaved", "epoch": 1, "step": 4, "path": "/x/a-0001.safetensors", "validation": 0.5}
    folder = begun("castle", lines=[line | {"samples": ["/x/epoch-0001-0.png"]}])
    assert read_run(folder.path).epochs == ()
    (folder.path / "epochs" / "a-0001.safetensors").write_bytes(b"")
    (found,) = read_run(folder.path).epochs
    assert found.path == str(folder.path / "epochs" / "a-0001.safetensors") and found.samples == ()


def test_samples_that_are_there_are_listed(begun):
    line = {"type": "EpochSaved", "epoch": 1, "step": 4, "path": "/x/a-0001.safetensors", "validation": 0.5}
    folder = begun("castle", lines=[line | {"samples": ["/x/epoch-0001-0.png", "/x/../../epoch-0001-1.png"]}])
    (folder.path / "epochs" / "a-0001.safetensors").write_bytes(b"")
    for name in ("epoch-0000-0.png", "epoch-0000-1.png", "epoch-0001-0.png"):
        (folder.path / "samples" / name).write_bytes(b"")
    found = read_run(folder.path)
    assert found.base_samples == tuple(str(folder.sample(0, number)) for number in (0, 1))
    assert found.epochs[0].samples == (str(folder.sample(1, 0)),)


def test_a_long_curve_is_thinned(monkeypatch):
    monkeypatch.setattr(runs, "MOST_LOSSES", 3)
    found = thinned(TrainingLoss(step=number, loss=float(number)) for number in range(1, 8))
    assert found == (TrainingLoss(step=3, loss=2), TrainingLoss(step=6, loss=5), TrainingLoss(step=7, loss=7))


def test_what_is_no_run_cannot_be_gone_on_with(begun, tmp_path):
    with pytest.raises(UsageError, match="not the folder of a training"):
        resumed_request(tmp_path)
    folder = begun("castle").path
    record = json.loads((folder / "training.json").read_text("utf-8"))
    (folder / "training.json").write_text(json.dumps(record | {"request": {}}), "utf-8")
    with pytest.raises(ModelRefused, match="damaged"):
        resumed_request(folder)
