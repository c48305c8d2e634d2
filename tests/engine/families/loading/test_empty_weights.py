"""Networks without numbers get no first values; others do."""

import threading

import torch
from torch import nn

from mezzotint.families.loading.empty_weights import SkipInit, empty_weights


def test_a_tensor_without_numbers_is_left_as_it_is():
    weight = torch.empty(2, 2, device="meta")
    with SkipInit():
        assert nn.init.normal_(weight) is weight and nn.init.kaiming_uniform_(weight) is weight
        assert weight.uniform_() is weight


def test_others_get_the_same_values_as_ever():
    drawn = []
    for context in (torch.no_grad(), SkipInit()):
        torch.manual_seed(1)
        with context:
            drawn.append(nn.Linear(3, 3).weight.detach().clone())
    assert drawn[0].equal(drawn[1])


def test_parameters_are_empty_and_buffers_are_not():
    with empty_weights():
        built = nn.BatchNorm2d(4)
    assert {name for name, each in built.state_dict().items() if each.is_meta} == {"weight", "bias"}
    assert not nn.Linear(2, 2).weight.is_meta


def test_what_another_thread_registers_meanwhile_is_real():
    begun, done = threading.Event(), threading.Event()

    def build():
        with empty_weights():
            begun.set()
            assert done.wait(30)

    other = threading.Thread(target=build)
    other.start()
    assert begun.wait(30)
    with empty_weights():
        assert nn.Linear(2, 2).weight.is_meta
    linear = nn.Linear(2, 2)
    linear.load_state_dict({"weight": torch.ones(2, 2), "bias": torch.ones(2)}, assign=True)
    done.set()
    other.join()
    assert linear.weight.tolist() == [[1, 1], [1, 1]]
    assert not nn.Linear(2, 2).weight.is_meta
