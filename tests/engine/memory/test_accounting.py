"""Bytes counted: every storage once, for as long as it lives, and never past the cap."""

import gc

import pytest
import torch
from torch import nn
from torch.nn import functional

from mezzotint.memory.accounting import ByteAccount, ByteLedger, DeviceOutOfMemory, rounded, uncounted


@pytest.fixture
def account():
    return ByteAccount(ByteLedger())


@pytest.mark.parametrize(("size", "takes"), [(0, 0), (1, 512), (512, 512), (513, 1024)])
def test_storages_are_rounded_up(size, takes):
    assert rounded(size) == takes


def test_what_lives_counts_and_what_is_gone_does_not(account):
    with account:
        x = torch.zeros(256)
        y = x + 1
        assert account.ledger.in_use == 2048
        del x
        assert account.ledger.in_use == 1024
    del y
    assert account.ledger.in_use == 0
    assert account.ledger.peak == 2048
    account.ledger.reset_peak()
    assert account.ledger.peak == 0


def test_views_and_what_is_written_in_place_count_once(account):
    outside = torch.ones(256)
    with account:
        kept = [outside.view(16, 16), outside.t(), outside.add_(1), outside[3:].mul_(2)]
        assert account.ledger.in_use == 0
        y = torch.exp(outside)
        kept += [y.view(2, 128), y[0], y.add_(1), torch.mul(y, y, out=y)]
        assert account.ledger.in_use == 1024
        del y
        assert account.ledger.in_use == 1024  # its views hold it
        kept.clear()
    assert account.ledger.in_use == 0


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_what_operations_make_on_the_way_counts_in_any_mode(account, mode):
    x, layer = torch.randn(2, 64, 64), nn.Linear(64, 64)
    with mode(), account:
        y = functional.softmax(functional.linear(x, layer.weight, layer.bias), dim=-1).sum()
        del y
    assert account.ledger.peak >= 2 * x.nbytes
    with mode(), account:
        made = functional.layer_norm(layer(x), (64,))
    with mode():
        assert made.equal(functional.layer_norm(layer(x), (64,)))


def test_too_much_is_refused_and_then_nothing_is_counted():
    account = ByteAccount(ByteLedger(4096))
    with account:
        kept = torch.zeros(256)
        with pytest.raises(DeviceOutOfMemory, match=r"0\.0 MiB more needed") as error:
            torch.zeros(1024)
        assert (error.value.requested, error.value.in_use, error.value.cap) == (4096, 1024, 4096)
        assert error.value.exit_code == 4
        more = torch.zeros(768)
        assert account.ledger.in_use == account.ledger.peak == 4096
        del more, kept
    assert account.ledger.in_use == 0 and account.ledger.free == 4096


def test_workspace_counts_while_the_operation_runs():
    ledger = ByteLedger(2048)
    account = ByteAccount(ledger, {"mm": lambda args, _: 2 * args[0].nbytes})
    x = torch.eye(8)
    with account:
        y = torch.mm(x, x)
        assert ledger.in_use == 512 and ledger.peak == 1024
        big = torch.eye(16)
        with pytest.raises(DeviceOutOfMemory):
            torch.mm(big, big)
    del y


def test_the_hosts_work_does_not_count(account):
    with account:
        with uncounted():
            x = torch.zeros(256)
        y = x.view(2, 128)
        assert account.ledger.in_use == 0
    del y


def test_errors_of_operations_leave_nothing_counted(account):
    with account, pytest.raises(RuntimeError, match="size"):
        torch.zeros(3) + torch.zeros(4)
    gc.collect()
    assert account.ledger.in_use == 0


def test_the_same_at_another_address_is_another(account):
    with account:
        for _ in range(100):
            x = torch.zeros(256)  # often the same memory, and the same object's number
            assert account.ledger.in_use == 1024
            del x
    assert account.ledger.in_use == 0


def test_refusing_at_will():
    ledger = ByteLedger(refuse=lambda number, size: number == 1 and size == 5)
    ledger.take(5)
    with pytest.raises(DeviceOutOfMemory):
        ledger.take(5)
    ledger.take(5)
    assert ledger.in_use == 10
