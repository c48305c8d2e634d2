"""What is written is the average; training then goes on from exactly where it was."""

import pytest
import torch
from torch import nn

from mezzotint.training.averages import MovingAverage, evaluated


def parameters():
    return [nn.Parameter(torch.arange(6.0).view(2, 3)), nn.Parameter(torch.ones(4))]


def test_a_moving_average_follows_slowly_and_faster_at_first():
    held = parameters()
    average = MovingAverage(held, 0.9)
    held[0].data += 1
    average.update(1)
    torch.testing.assert_close(average.values[0], torch.arange(6.0).view(2, 3) + 10 / 11)
    before = average.values[0].clone()
    held[0].data += 1
    average.update(10_000)
    torch.testing.assert_close(average.values[0], before + 0.1 * (held[0].detach() - before))


def test_parameters_have_the_average_for_a_while():
    held = parameters()
    average = MovingAverage(held, 0.9)
    held[0].data += 1
    now, values = held[0].detach().clone(), average.values[0].clone()
    with pytest.raises(KeyError), average.applied():
        assert torch.equal(held[0], values)
        raise KeyError
    assert torch.equal(held[0], now) and torch.equal(average.values[0], values)


class ScheduleFree:
    """Goes back and forth with rounding errors, as the real one does."""

    def __init__(self, held):
        self.held, self.modes = held, []

    @torch.no_grad()
    def eval(self):
        self.modes.append("eval")
        for each in self.held:
            each.mul_(0.1)

    @torch.no_grad()
    def train(self):
        self.modes.append("train")
        for each in self.held:
            each.mul_(10.0)


def test_a_schedule_free_optimizer_evaluates_and_goes_on_to_the_bit():
    held = [nn.Parameter(torch.rand(1000, generator=torch.Generator().manual_seed(0)))]
    before, optimizer = held[0].detach().clone(), ScheduleFree(held)
    with evaluated(optimizer, held):
        assert optimizer.modes == ["eval"] and float(held[0].detach().max()) < 0.11
    assert optimizer.modes == ["eval", "train"] and torch.equal(held[0], before)
    assert held[0].requires_grad
