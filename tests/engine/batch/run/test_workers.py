"""What makes the images."""

import os
import sys

import pytest
from batch_programs import StandIn, serving, task
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.run.workers import (
    EngineWorker,
    ProcessWorker,
    WorkerDied,
    WorkerUnusable,
    device_environment,
    parsed_devices,
    server_command,
)
from mezzotint.errors import UsageError


def ignored(_):
    return None


@pytest.fixture
def worker(tmp_path):
    one = ProcessWorker(serving(tmp_path / "held"), dict(os.environ))
    yield one
    one.close()


def test_an_engine_here_is_opened_with_its_first_image(tmp_path):
    opened = []
    worker = EngineWorker(lambda: opened.append(StandIn()) or opened[0])
    worker.close()
    assert opened == []
    for number in range(2):
        worker.make(task(number, tmp_path).request, ignored)
    worker.close()
    assert len(opened) == 1 and opened[0].closed


@pytest.mark.slow
def test_a_process_that_dies_is_started_again_for_the_next(worker, tmp_path):
    for number, fault in enumerate(["poison", "lost"]):
        with pytest.raises(WorkerDied):
            worker.make(task(number, tmp_path, fault).request, ignored)
        assert worker.make(task(number + 5, tmp_path).request, ignored).images


def test_one_that_was_ended_between_images_is_no_fault_of_the_next(worker, tmp_path):
    worker.make(task(1, tmp_path).request, ignored)
    worker._process._process.kill()
    worker._process._process.wait()
    assert worker.make(task(2, tmp_path).request, ignored).images


def test_a_process_that_does_not_start_is_given_up(tmp_path):
    waits = []
    worker = ProcessWorker([sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ), sleep=waits.append)
    with pytest.raises(WorkerUnusable, match="failed to start 5 times: the engine exited with code 3"):
        worker.make(task(1, tmp_path).request, ignored)
    assert waits == [1.0, 2.0, 4.0, 8.0, 0.0]


def test_the_engines_own_process_is_asked_to_hold_a_file(tmp_path):
    words = server_command(tmp_path / "held", [tmp_path / "models"])
    assert words[1:] == [
        *("-P", "-m", "mezzotint.server", "--hold", str(tmp_path / "held")),
        *("--models-folder", str(tmp_path / "models")),
    ]


def test_a_process_sees_its_own_device_alone():
    assert device_environment("1", {"A": "b"}) == {"A": "b", "CUDA_VISIBLE_DEVICES": "1"}
    assert device_environment("1", {"CUDA_VISIBLE_DEVICES": "4, GPU-7"})["CUDA_VISIBLE_DEVICES"] == "GPU-7"
    assert device_environment("cpu", {"CUDA_VISIBLE_DEVICES": "4"})["CUDA_VISIBLE_DEVICES"] == ""
    assert device_environment("auto", {"A": "b"}) == {"A": "b"}
    with pytest.raises(UsageError, match="exposes 2 of them"):
        device_environment("2", {"CUDA_VISIBLE_DEVICES": "0,1"})


@given(st.lists(st.integers(0, 99), min_size=1, max_size=64))
def test_devices_by_number(numbers):
    assert parsed_devices(",".join(f"cuda:{one}" if one % 2 else f" {one}" for one in numbers)) == tuple(
        map(str, numbers)
    )


@pytest.mark.parametrize("words", ["", "0,,1", "gpu", "-1", "1.5", "٣", ",".join("0" * 65)])
def test_what_is_no_device_is_refused(words):
    with pytest.raises(UsageError):
        parsed_devices(words)


def test_cpu_may_be_named_more_than_once():
    assert parsed_devices("cpu,cpu") == ("cpu", "cpu")
