"""Streams: units are reversed in order, once, and as they ran."""

import pytest
import torch
from torch import nn

from mezzotint.families.architectures.reconstruction import Streams


def layers(count=4):
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(6, 6), nn.Tanh()) for _ in range(count)]


def passed(changes, x, **how):
    """Both streams after units that begin as x."""
    streams, ends = Streams(**how), [x, x]
    for number, change in enumerate(changes):
        to = number % 2
        ends[to] = streams.add(ends[to], change, ends[1 - to])
    streams.finish(*ends)
    return ends


def test_a_second_backward_pass_is_refused():
    first, second = passed(layers(), torch.randn(3, 6))
    loss = (first + second).square().sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="can be run once"):
        loss.backward()


def test_a_unit_that_saves_other_tensors_when_run_again_is_told():
    runs = []

    def change(x):
        runs.append(len(runs))
        return x.sin() if len(runs) == 1 else x.sin().cos()

    first, second = passed([change, layers(1)[0]], torch.randn(3, 6, requires_grad=True))
    with pytest.raises(RuntimeError, match="a block saved 1 tensors at first, and 2 when run again"):
        (first + second).sum().backward()


def test_each_unit_runs_twice_and_those_without_gradients_alike():
    runs, units = [], layers(5)

    def counted(number):
        def change(x):
            runs.append(number)
            return units[number](x)

        return change

    for number in (1, 2):
        units[number].requires_grad_(False)
    first, second = passed([counted(number) for number in range(5)], torch.randn(3, 6))
    (first + second).sum().backward()
    assert runs == [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]
    assert all(each.weight.grad is not None for each in (units[0][0], units[4][0]))


def test_random_numbers_are_drawn_again_and_later_ones_are_not_disturbed():
    dropped = nn.Dropout(0.5)
    torch.manual_seed(3)
    x = torch.randn(3, 6, requires_grad=True)
    first, second = passed([dropped, dropped], x, draws=True)
    after = torch.get_rng_state()
    (found,) = torch.autograd.grad((first * 2 + second).sum(), x)
    assert torch.equal(torch.get_rng_state(), after)
    torch.manual_seed(3)
    x = torch.randn(3, 6, requires_grad=True)
    first = x + dropped(x)
    second = x + dropped(first)
    (expected,) = torch.autograd.grad((first * 2 + second).sum(), x)
    torch.testing.assert_close(found, expected)
