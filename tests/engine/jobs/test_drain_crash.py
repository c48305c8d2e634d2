"""Processes that die while they work through a queue: nothing is lost, and nothing is made twice."""

import itertools
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import queue_programs

from mezzotint.atomic import TEMPORARY_PREFIX
from mezzotint.jobs.store import JobStore
from mezzotint.protocol import GenerateRequest, Output

PROGRAM = Path(queue_programs.__file__)
KILLED = 1 if sys.platform == "win32" else -9
POINTS = ["begun", "claimed", "step", "written", "told", "finished"]


@pytest.fixture
def program(path, tmp_path):
    """Starts one that works through the queue, in a process of its own."""

    def start(*death, device="cpu"):
        words = [sys.executable, str(PROGRAM), str(path), str(tmp_path / "leases"), device, *map(str, death)]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONSAFEPATH": "1"}
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    return start


@pytest.fixture
def fill(path, tmp_path):
    """So many tasks of one to three images."""

    def call(tasks):
        requests = [
            GenerateRequest(
                prompt=f"{number}",
                seed=number * 10,
                count=1 + number % 3,
                output=Output(path=f"{tmp_path}/out/[seed].png"),
            )
            for number in range(tasks)
        ]
        with JobStore.open(path).store as store:
            for begin in range(0, tasks, 10):
                store.add(requests[begin : begin + 10])
        return [request.seed + number for request in requests for number in range(request.count)]

    return call


def ended(process, *codes):
    _, errors = process.communicate(timeout=120)
    assert process.returncode in codes, errors
    return process.returncode


def check(path, tmp_path, seeds):
    """Every image is there once, the queue knows each, and has no other."""
    files = [file.name for file in (tmp_path / "out").iterdir() if not file.name.startswith(TEMPORARY_PREFIX)]
    assert Counter(files) == Counter(f"{seed}.png" for seed in seeds)
    with JobStore.open(path).store as store:
        assert store._database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = store.rows()
        assert {row.state for row in rows} == {"done"}
        told = [image for row in rows for task in store.entry(row.id).tasks for image in task.images]
    assert Counter(image.path for image in told) == Counter(str(tmp_path / "out" / f"{seed}.png") for seed in seeds)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("point", POINTS)
def test_dead_at_every_point(program, fill, path, tmp_path, point, number):
    seeds = fill(5)
    while ended(program(point, number), 0, 137) and number < 9:
        number += 3  # the next one comes further
    ended(program(), 0)
    check(path, tmp_path, seeds)


@pytest.mark.slow
def test_killed_at_any_moment_over_and_over(program, fill, path, tmp_path):
    """Two programs on two devices; one after the other is killed, and another comes in its place."""
    seeds, chance, kills = fill(150), random.Random(7), 0
    running = {device: program(device=device) for device in "ab"}
    while running:
        device = chance.choice(list(running))
        victim = running.pop(device)
        points = list(itertools.islice(victim.stdout, chance.randrange(1, 60)))
        victim.kill()
        kills += ended(victim, 0, KILLED) == KILLED
        assert points
        if is_unfinished(path) and kills < 25:
            running[device] = program(device=device)
    while is_unfinished(path):
        ended(program(), 0)
    assert kills > 10
    check(path, tmp_path, seeds)


def is_unfinished(path):
    with JobStore.open(path).store as store:
        store.retry([row.id for row in store.rows(states=["set_aside"])])  # here it was chance that killed it
        return store.count(["waiting", "running", "interrupted", "set_aside"]) > 0
