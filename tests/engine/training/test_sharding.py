"""Two processes train as one does, in less memory, and go on to the bit."""

import json
import os
import sys
from pathlib import Path

import devices_script
import pytest
import torch
from devices_script import CASES, MIDDLE, RATE, STEPS
from tiny_training import TinyTraining

from mezzotint.errors import UsageError
from mezzotint.jobs.training.launcher import launch
from mezzotint.training.sharding import check_sharding
from mezzotint.training.state import load_state


@pytest.mark.slow
def test_two_processes_train_as_one_does_in_less_memory_and_go_on_to_the_bit(tiny_pixart_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    script = Path(devices_script.__file__)
    assert launch([sys.executable, "-P", str(script), str(tiny_pixart_folder), str(tmp_path)], 2) == 0
    report, tiny = json.loads((tmp_path / "report.json").read_text()), TinyTraining(tiny_pixart_folder)
    assert report["first"] == [0, [True, False]]
    for name in CASES:
        states = {each: (tmp_path / f"{name}-{each}.safetensors") for each in ("state", "again", "middle")}
        contents = {each: path.read_bytes() for each, path in states.items()}
        assert contents["again"] == contents["state"] != contents["middle"], name
        check_as_one(tiny, name, load_state(states["state"])[0], report[name], tmp_path / "alone.safetensors")
        assert report[name]["whole"] == report["none"]["whole"], name
    check_sizes({name: report[name]["sizes"] for name in CASES})


def check_as_one(tiny, name, found, report, path):
    """The same training in this process gives the same state and losses."""
    trainer = tiny.trainer(peak=RATE, **CASES[name] | {"shard": "none"})
    losses = devices_script.trained(tiny, trainer, MIDDLE)
    assert report["validation"] == pytest.approx(trainer.validation_loss(lambda: tiny.images[:2]), abs=1e-6), name
    losses += devices_script.trained(tiny, trainer, STEPS - MIDDLE)
    assert report["losses"] == pytest.approx(losses, abs=1e-6), name
    trainer.save(path, {})
    expected, _ = load_state(path)
    assert found.keys() == expected.keys(), name
    for key, value in expected.items():
        torch.testing.assert_close(found[key], value, atol=1e-6, rtol=0, msg=f"{name}: {key}")
        gap = (found[key].double() - value.double()).norm()
        assert gap <= 1e-4 * value.double().norm(), f"{name}: {key}"  # moments are smaller than 1e-6


def check_sizes(sizes):
    """Each device has its part of what is split, and all of the rest."""
    full = sizes["none"]
    counts = full["state"] - 2 * full["factors"]  # of steps, which each device needs
    assert sizes["optimizer"] == full | {"state": full["state"] / 2}
    half = {"factors": full["factors"] / 2, "gradients": full["gradients"] / 2, "state": full["factors"] + counts}
    assert sizes["gradients"] == full | half
    assert sizes["parameters"] == full | half | {"network": full["network"] / 2}


USUAL = {"batch": 4, "optimizer": "adamw", "dtype": "bfloat16", "quantized": False}


@pytest.mark.parametrize("shard", ["none", "optimizer", "gradients", "parameters"])
def test_two_devices_can_share_a_batch_of_two(shard):
    check_sharding(shard, 2, **USUAL | {"batch": 2})


@pytest.mark.parametrize(
    ("shard", "processes", "other", "message"),
    [
        ("none", 3, {"batch": 2}, "a batch of 2 cannot be shared by 3 devices: --batch 3"),
        ("optimizer", 1, {}, "needs several devices"),
        ("optimizer", 2, {"optimizer": "prodigy"}, "cannot split the state of prodigy"),
        ("gradients", 2, {"optimizer": "adamw-8bit"}, "cannot split the state of adamw-8bit: use adamw$"),
        ("gradients", 2, {"dtype": "float16"}, "cannot train in float16"),
        ("parameters", 2, {"quantized": True}, "cannot split quantized weights: use --shard gradients"),
    ],
)
def test_what_cannot_be_split_is_refused(shard, processes, other, message):
    with pytest.raises(UsageError, match=message):
        check_sharding(shard, processes, **USUAL | other)
