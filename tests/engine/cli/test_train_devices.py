"""`mezzotint train --devices`: the command runs itself once for each device, and only the first process reports."""

import json
import signal
import sys
from typing import Any, ClassVar

import pytest

from mezzotint.codec import encode
from mezzotint.jobs.training import launcher, run
from mezzotint.protocol import ModelRef
from mezzotint.training.distributed import Processes
from mezzotint.training_protocol import TrainingRequest, TrainingResult, TrainingSettings

WORDS = ("train", "castles", "-m", "starter-dit", "-o", "castles")


@pytest.fixture
def launched(monkeypatch):
    """The commands that are launched, and in how many processes."""
    found = []
    monkeypatch.setattr(launcher, "launch", lambda *call: found.append(call) or 4)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    return found


def test_several_devices_run_the_same_command(launched, command):
    words = (*WORDS, "--devices", "0, 1,cuda:2", "--shard", "optimizer")
    assert command(*words).code == 4
    assert launched == [([sys.executable, "-P", "-m", "mezzotint", *words], 3)]


def test_a_resumed_training_has_its_devices_again(launched, command, tmp_path):
    folder = tmp_path / "castles.training"
    folder.mkdir()
    settings = TrainingSettings(devices=("0", "1"))
    request = TrainingRequest(dataset="", model=ModelRef(id="x"), name="castles", output="", settings=settings)
    record = {"schema_version": 1, "request": encode(request), "started": "2026-01-01T00:00:00+00:00"}
    (folder / "training.json").write_text(json.dumps(record))
    words = ("train", "--resume", "-o", str(tmp_path / "castles"))
    assert command(*words).code == 4
    assert launched == [([sys.executable, "-P", "-m", "mezzotint", *words], 2)]


def test_names_without_content_are_refused(launched, command):
    done = command(*WORDS, "--devices", "0,,1")
    assert done.code == 2 and launched == []
    assert "must be names or numbers with commas between them" in done.err


class Run:
    """Stands in for a training."""

    calls: ClassVar[list[Any]] = []

    def __init__(self, request, _catalog, on_event, _cancelled, processes):
        self.calls.append((request.settings.devices, processes, signal.getsignal(signal.SIGINT)))

    def run(self, **_):
        return TrainingResult(
            lora="castles.safetensors",
            folder="castles.training",
            steps=1,
            epochs=(),
            attention="sdpa",
            loss=0.5,
            seconds=1.0,
            peak_vram_bytes=None,
            peak_ram_bytes=1,
        )


@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_first_process_reports_and_is_interrupted(rank, launched, command, monkeypatch):
    monkeypatch.setattr(run, "TrainingRun", Run)
    monkeypatch.setattr(Run, "calls", [], raising=False)
    for name, value in {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2}.items():
        monkeypatch.setenv(name, str(value))
    before = signal.getsignal(signal.SIGINT)
    done = command(*WORDS, "--devices", "0,1")
    assert done.code == 0 and launched == []
    assert done.out == ("castles.safetensors\n" if rank == 0 else "")
    ((devices, processes, handler),) = Run.calls
    assert devices == ("0", "1") and processes == Processes(rank=rank, local_rank=rank, count=2)
    assert (handler == signal.SIG_IGN) == (rank == 1)
    assert signal.getsignal(signal.SIGINT) == before
