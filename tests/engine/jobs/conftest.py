"""A queue in a folder of its own, and a clock that goes by itself."""

import itertools

import pytest

from mezzotint.jobs.store import JobStore
from mezzotint.protocol import GeneratedImage, GenerateRequest, Output


class Clock:
    """A second passes with every look."""

    def __init__(self):
        self.seconds = itertools.count(1_000_000)

    def __call__(self):
        return float(next(self.seconds))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "queue.sqlite"


@pytest.fixture
def opened(path, clock):
    """Opens the queue again and again, as programs that come and go do."""
    stores = []

    def call(at=None):
        result = JobStore.open(at or path, now=clock)
        stores.append(result.store)
        return result

    yield call
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    return opened().store


@pytest.fixture
def request_of(tmp_path):
    """A request whose images go to a folder that is not there."""

    def call(prompt="a barn", **changes):
        values = {"seed": 7, "output": Output(path=f"{tmp_path}/nowhere/[seed].png")}
        return GenerateRequest(prompt=prompt, **values | changes)

    return call


@pytest.fixture
def image_of():
    """An image of a request, by its number."""

    def call(request, number=0, **changes):
        seed = request.seed + number
        values = {"path": f"/out/{seed}.png", "width": 64, "height": 32, "seed": seed, "index": number, "sha256": "0a"}
        return GeneratedImage(**values | changes)

    return call


@pytest.fixture
def make(store, image_of):
    """Makes what a task was claimed for, all of it or so many."""

    def call(task, number=None, at=None):
        for one in range(task.request.count if number is None else number):
            (at or store).saved(task.id, image_of(task.request, one))

    return call
