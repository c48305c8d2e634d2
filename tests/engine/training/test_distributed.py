"""Processes share batches evenly; one process alone needs nobody."""

import pytest
import torch

from mezzotint.training.distributed import ALONE, Processes, local, whole


def test_torchrun_says_who_is_who():
    found = Processes.of_environment({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4"})
    assert found == Processes(rank=3, local_rank=1, count=4) and not found.is_first


@pytest.mark.parametrize("environment", [{}, {"RANK": "0"}, {"RANK": "0", "LOCAL_RANK": "x", "WORLD_SIZE": "2"}])
def test_without_it_there_is_one_process(environment):
    assert Processes.of_environment(environment) == ALONE and ALONE.is_first


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("turn", [0, 1, 5])
def test_the_shares_are_the_batch(count, turn):
    places = list(range(10, 17))
    shares = [Processes(rank=rank, count=count).share(places, turn) for rank in range(count)]
    assert sorted(place for share in shares for place in share) == places
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_what_cannot_be_divided_goes_to_each_in_turn():
    assert [Processes(rank=0, count=2).share([7], turn) for turn in range(3)] == [[7], [], [7]]


def test_one_process_needs_nobody():
    with ALONE.joined(torch.device("cpu")):
        assert ALONE.total(2.5) == 2.5 and ALONE.decided(True, False) == (True, False) and ALONE.given("a") == "a"
        ALONE.wait()
        with ALONE.after_the_first():
            pass
    assert not torch.distributed.is_initialized()


def test_a_tensor_of_one_device_is_whole_and_local():
    tensor = torch.ones(2)
    assert local(tensor) is tensor and whole(tensor) is tensor
