"""Which backward kernel a problem gets, in how many splits, and how much memory it needs."""

import ctypes

import pytest
from attention_arguments import backward_args, table_args
from emulated_backward import BackwardEmulator
from stub_cuda import CARDS

from mezzotint_kernels.abi import AttentionFlags, Dtype

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

HEAD_DIMS = (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
FLUX = {"batch": 1, "heads": 24, "kv_heads": 24, "nq": 4608, "nk": 4608, "head_dim": 128, "dtype": Dtype.BFLOAT16}


@pytest.fixture(scope="module")
def emulator(quick_library):
    """The instances and what is chosen of them."""
    return BackwardEmulator(quick_library)


def planned(emulator, card, **changes):
    facts = CARDS[card]
    plan = emulator.plan(backward_args(**changes), facts.architecture, facts.multiprocessors, facts.shared_bytes)
    return plan, emulator.instances[plan.kernel] if plan.supported else None


@pytest.mark.parametrize("dtype", [Dtype.FLOAT16, Dtype.BFLOAT16])
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_every_head_size_of_the_forward_has_a_kernel(emulator, head_dim, dtype):
    for card in CARDS:
        plan, instance = planned(emulator, card, head_dim=head_dim, dtype=dtype)
        turing = card == 75
        assert plan.supported == (not turing or (dtype == Dtype.FLOAT16 and head_dim <= 256)), card
        if instance is not None:
            assert instance.shared_bytes <= CARDS[card].shared_bytes
            assert (instance.head_dim, instance.dtype) == (head_dim, dtype)


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_tiles_divide_the_blocks_of_a_table(emulator, head_dim):
    table = table_args()
    plan, instance = planned(emulator, 90, nq=4096, nk=4096, heads=64, head_dim=head_dim, table=ctypes.addressof(table))
    assert plan.supported and 64 % instance.tile_m == 64 % instance.tile_n == 0


def test_what_has_no_kernel_is_told(emulator):
    plan, _ = planned(emulator, 89, head_dim=48)
    assert "no backward kernel for head size 48 in float16 on architecture 89" in plan.text.decode()
    plan, _ = planned(emulator, 89, batch=10**6, heads=10**4, kv_heads=10**4)
    assert "more than a card's grid of blocks takes" in plan.text.decode()
    plan, _ = planned(emulator, 89, batch=10**9, heads=10**9, kv_heads=10**9, nq=10**9)
    assert not plan.supported


def test_as_many_splits_as_keep_a_card_busy(emulator):
    plan, instance = planned(emulator, 90, **FLUX)
    assert instance.threads == 256
    blocks = 24 * plan.splits
    assert blocks / (-(-blocks // 132) * 132) > 0.9  # multiprocessors that are busy, by waves
    assert f"{plan.splits} splits" in plan.text.decode()
    many, _ = planned(emulator, 90, **FLUX | {"batch": 64})
    assert many.splits == 1


@pytest.mark.parametrize("card", [80, 86, 90])
def test_splits_are_never_more_than_tiles_of_keys_and_bounded(emulator, card):
    for nk in (1, 64, 65, 300, 10**6):
        plan, instance = planned(emulator, card, batch=1, heads=1, kv_heads=1, nk=nk)
        assert 1 <= plan.splits <= min(32, -(-nk // instance.tile_m))


def test_the_workspace_holds_facts_and_a_sum_for_each_split(emulator):
    plan, _ = planned(emulator, 90, **FLUX)
    rows, sums = 24 * 4608 * 8, 24 * 4608 * 128 * 4
    assert plan.workspace_bytes == rows + plan.splits * sums
    unordered, _ = planned(emulator, 90, **FLUX, flags=AttentionFlags.UNORDERED)
    assert unordered.workspace_bytes == rows + sums
    assert unordered.splits == 36 and "unordered" in unordered.text.decode()
