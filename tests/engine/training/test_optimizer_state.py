"""An optimizer's state as plain tensors and numbers."""

import json

import pytest
import torch
from optimizer_cases import OPTIMIZERS
from torch import nn

from mezzotint.training.adapters.adapter import Group
from mezzotint.training.optimizer_state import optimizer_state, restore_optimizer
from mezzotint.training.optimizers import build_optimizer


def step(optimizer, parameters, number):
    for place, each in enumerate(parameters):
        generator = torch.Generator().manual_seed(10 * number + place)
        each.grad = torch.randn(each.shape, generator=generator)
    optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_goes_on_to_the_bit(name):
    whole = [nn.Parameter(torch.ones(64, 64)), nn.Parameter(torch.ones(3, 5))]
    optimizer = build_optimizer(name, [Group(parameters=whole)], 1e-2)
    for number in range(3):
        step(optimizer, whole, number)
    tensors, numbers = optimizer_state(optimizer)
    assert all(type(each) is torch.Tensor for each in tensors.values())
    tensors = {key: value.clone() for key, value in tensors.items()}
    again = [nn.Parameter(each.detach().clone()) for each in whole]
    other = build_optimizer(name, [Group(parameters=again)], 1e-2)
    restore_optimizer(other, tensors, json.loads(json.dumps(numbers)))
    for number in range(3, 6):
        step(optimizer, whole, number)
        step(other, again, number)
    assert all(torch.equal(a, b) for a, b in zip(whole, again, strict=True))


def test_numbers_of_a_whole_group_are_kept():
    parameter = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    optimizer.param_groups[0] |= {"d": 0.25, "k": 3, "growth": float("inf"), "names": ("a",)}
    tensors, numbers = optimizer_state(optimizer)
    assert (tensors, numbers) == ({}, {"optimizer-group.0/d": 0.25, "optimizer-group.0/k": 3})
    other = torch.optim.SGD([parameter], lr=1.0)
    restore_optimizer(other, tensors, numbers)
    assert other.param_groups[0]["d"] == 0.25 and other.param_groups[0]["k"] == 3
