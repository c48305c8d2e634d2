"""The starters' trainer in two processes: as in one, and resumed to the bit."""

import os
import sys
from pathlib import Path

import pytest
import starter_devices_script
import torch
from starter_devices_script import trained

from mezzotint.jobs.training.launcher import launch
from mezzotint_starter.state import load_tensors


@pytest.mark.slow
def test_two_processes_train_as_one_and_go_on_to_the_bit(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert launch([sys.executable, "-P", starter_devices_script.__file__, str(tmp_path)], 2) == 0
    assert [(tmp_path / f"found-{rank}").read_text() for rank in range(2)] == ["False", "True"]
    whole, paused = (tmp_path / f"{name}.safetensors" for name in ("whole", "paused"))
    assert whole.read_bytes() == paused.read_bytes()
    found = load_tensors(whole)
    trained(Path(tmp_path / "alone.safetensors"))
    alone = load_tensors(tmp_path / "alone.safetensors")
    assert found is not None and alone is not None and found[1] == alone[1]
    assert found[0].keys() == alone[0].keys()
    for name, value in alone[0].items():
        torch.testing.assert_close(found[0][name], value, atol=1e-6, rtol=0, msg=name)
