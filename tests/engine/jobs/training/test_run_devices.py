"""A training on two devices, paused and resumed, is that on one."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import devices_run_script
import pytest
import torch
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import encode
from mezzotint.errors import UsageError
from mezzotint.jobs.training.launcher import launch
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.protocol import ModelRef
from mezzotint.training.state import load_state
from mezzotint.training_protocol import TrainingRequest, TrainingSettings


@pytest.fixture
def request_of(tiny_pixart_folder, tmp_path):
    """Make a request, of so many devices."""
    folder = tmp_path / "castles"
    folder.mkdir()
    for number in range(5):
        size = (64, 64) if number % 2 else (96, 48)
        Image.new("RGB", size, (40 * number, 200 - 20 * number, 90)).save(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text(f"a castle, number {number}")

    def make(name, **settings):
        usual = {"steps": 6, "epochs": 2, "batch": 3, "rank": 4, "rate": 1e-4, "ema": 0.9, "validation": 0.2}
        usual |= {"device": "cpu", "resolution": 64, "regularization": 0, "flip": True}
        return TrainingRequest(
            dataset=str(folder),
            model=ModelRef(id=str(tiny_pixart_folder)),
            name=name,
            output=str(tmp_path),
            settings=TrainingSettings(**usual | settings),
        )

    return make


def ignored(_):
    pass


def run(request):
    return TrainingRun(request, Catalog.standard(), ignored, lambda: False).run()


@pytest.mark.slow
@pytest.mark.parametrize("shard", ["none", "optimizer", "gradients", "parameters"])
def test_it_is_paused_and_goes_on_as_on_one_device(shard, request_of, tmp_path, monkeypatch):
    alone = run(request_of("one"))
    request = request_of("two", devices=("cpu", "cpu"), shard=shard)
    (tmp_path / "request.json").write_text(json.dumps(encode(request)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    meeting = (tmp_path / "second-meeting").as_uri()
    command = [sys.executable, "-P", devices_run_script.__file__, str(tmp_path / "request.json"), meeting]
    assert launch(command, 2) == 0
    folders = {name: Path(alone.folder).with_name(f"{name}.training") for name in ("one", "two")}
    states = {name: load_state(folder / "state.safetensors")[0] for name, folder in folders.items()}
    assert states["one"].keys() == states["two"].keys()
    for key, value in states["one"].items():
        torch.testing.assert_close(states["two"][key], value, atol=1e-6, rtol=0, msg=key)
    logs = {name: (folder / "log.jsonl").read_text().splitlines() for name, folder in folders.items()}
    assert [json.loads(line)["step"] for line in logs["two"]] == [json.loads(line)["step"] for line in logs["one"]]
    assert (tmp_path / "two.safetensors").is_file()


def test_several_devices_need_several_processes(request_of):
    with pytest.raises(UsageError, match="several devices need a process for each"):
        run(request_of("two", devices=("cpu", "cpu")))


def test_a_batch_that_cannot_be_shared_is_refused(request_of):
    request = request_of("two", shard="optimizer")
    with pytest.raises(UsageError, match="needs several devices"):
        run(request)
    assert not Path(request.output, "two.training").exists()
    with pytest.raises(UsageError, match="needs several devices"):
        run(replace(request, settings=replace(request.settings, devices=("cpu",))))
