"""Blocks are removed one after another, each time the one that changes least beside those that are gone."""

from contextlib import contextmanager

import pytest

from mezzotint.errors import Cancelled, UsageError
from mezzotint.jobs.pruning.choosing import RemovedBlock, choose_blocks


class Blocks:
    """Three blocks; the first two can replace one another."""

    names = ("a", "b", "c")
    gone = ()

    @contextmanager
    def skipping(self, names):
        self.gone = tuple(names)
        yield
        self.gone = ()

    def distance(self):
        alone = {"a": 0.1, "b": 0.2, "c": 0.5}
        return sum((alone[name] for name in self.gone), 0.0) + (1.0 if {"a", "b"} <= set(self.gone) else 0.0)


def test_what_is_gone_already_counts():
    blocks, told = Blocks(), []
    removed = choose_blocks(blocks, 2, blocks.distance, lambda *each: told.append(each), lambda: False)
    assert removed == (RemovedBlock(name="a", distance=0.1), RemovedBlock(name="c", distance=0.6))
    assert told == [(place, 5) for place in range(1, 6)]


def test_it_can_be_stopped():
    blocks = Blocks()
    with pytest.raises(Cancelled, match="images are kept"):
        choose_blocks(blocks, 1, blocks.distance, lambda *_: None, lambda: True)


@pytest.mark.parametrize("count", [0, 3, 9])
def test_one_at_least_goes_and_one_at_least_stays(count):
    blocks = Blocks()
    with pytest.raises(UsageError, match=f"--blocks is {count}; of this model's 3 blocks"):
        choose_blocks(blocks, count, blocks.distance, lambda *_: None, lambda: False)
