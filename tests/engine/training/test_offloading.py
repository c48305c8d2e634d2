"""What blocks keep in RAM comes back to the bit."""

import pytest
import torch
from base_gradients import gradients
from tiny_training import TinyTraining

from mezzotint.benchmarks.training_memory.cases import WIDTH, Stack
from mezzotint.memory.accounting import ByteAccount, ByteLedger
from mezzotint.memory.footprints.live_memory import LiveMemory
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.offloading import LEAST, offloading

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["starter-dit", "starter-xl"])
def tiny(request):
    return TinyTraining(request.param, images=2)


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("mode", ["selective", "blocks", "sqrt"])
def test_gradients_are_the_same_to_the_bit(tiny, mode):
    plain, found = gradients(tiny, "none"), gradients(tiny, mode, offloading=offloading(CPU))
    assert all(map(torch.equal, plain, found))


def test_with_a_streamed_base_as_well(tiny):
    found = gradients(tiny, "blocks", streamed=6, offloading=offloading(CPU))
    assert all(map(torch.equal, gradients(tiny, "none"), found))


@pytest.mark.parametrize("mode", ["blocks", "sqrt"])
def test_inputs_are_not_on_the_device(mode):
    network, x, kept = Stack(16), torch.randn(1, 64, WIDTH, requires_grad=True), {}
    for name, where in (("device", None), ("RAM", offloading(CPU))):
        undo = apply_checkpointing(network, mode, where)
        network(x)  # finds the segments
        memory = LiveMemory()
        with memory:
            y = network(x)
        kept[name] = memory.live
        y.sum().backward()
        undo()
    assert kept["RAM"] < 2 * x.nbytes < kept["device"]


def test_what_several_blocks_are_given_is_kept_once():
    made = []

    def keep(tensor):
        made.append(tensor)
        return real(tensor)

    saved = offloading(CPU)
    real, saved._keep = saved._keep, keep
    x = torch.randn(LEAST, requires_grad=True)
    with saved.saving():
        y = x.exp() * x + x.sin()
    assert len(made) == len((x, x.exp())) and y is not None


def test_what_was_overwritten_is_kept_anew():
    saved, x = offloading(CPU), torch.ones(LEAST)
    w = torch.ones(LEAST, requires_grad=True)
    with saved.saving():
        first = (w * x).sum()
        x.mul_(2)
        second = (w * x).sum()
    (first + second).backward()
    assert torch.equal(w.grad, torch.full_like(w, 3.0))


def test_copies_in_ram_are_not_counted():
    ledger, saved = ByteLedger(), offloading(CPU)
    w = torch.ones(LEAST, requires_grad=True)
    with ByteAccount(ledger), saved.saving():
        y = w.exp()
        assert ledger.in_use == y.nbytes
