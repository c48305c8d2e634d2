"""Few queries of many keys, which are split among blocks, on the emulator."""

from dataclasses import replace

import pytest
import torch
from emulated_kernels import FORWARD, Problem
from linear_instances import Card

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

A100 = Card(architecture=80, multiprocessors=108, shared_bytes=163 * 1024)
RTX_4090 = Card(architecture=89, multiprocessors=128, shared_bytes=99 * 1024)
H200 = Card(architecture=90, multiprocessors=132, shared_bytes=227 * 1024)
CARDS = (A100, RTX_4090, H200)
FEW = Problem(head_dim=128, heads=24, kv_heads=24, nq=80, nk=4608)
PROBLEMS = {
    "two halves": Problem(head_dim=64, nq=5, nk=256, splits=2),
    "parts of different lengths, the last ragged": Problem(head_dim=64, nq=70, nk=290, splits=3, outliers=True),
    "parts without keys": Problem(head_dim=64, nq=20, nk=130, splits=16),
    "no keys at all": Problem(head_dim=64, nq=20, nk=0, splits=2),
    "lengths that end in the first part": Problem(
        head_dim=64, batch=3, nq=20, nk=300, splits=3, key_lengths=(40, 0, 300)
    ),
    "causal, the edge within a part": Problem(head_dim=64, nq=100, nk=290, splits=3, causal=True),
    "causal, parts that some rows do not see": Problem(head_dim=64, nq=250, nk=130, splits=2, causal=True),
    "a mask that hides the first part": Problem(head_dim=64, batch=2, nq=20, nk=256, splits=2, key_mask="late"),
    "a mask that hides all of a batch": Problem(head_dim=64, batch=2, nq=20, nk=200, splits=3, key_mask="none_seen"),
    "a bias": Problem(head_dim=64, nq=40, nk=290, splits=3, bias="full", bias_float=False, key_mask="random"),
    "a bias in pairs": Problem(head_dim=64, batch=2, nq=20, nk=202, splits=4, bias="padded"),
    "a bias of the lowest number": Problem(head_dim=64, nq=20, nk=256, splits=2, bias="lowest", key_lengths=(130,)),
    "maxima that differ by part": Problem(head_dim=64, nq=20, nk=600, splits=5, creeping=True),
    "fewer heads of keys, tokens first": Problem(
        head_dim=72, heads=4, kv_heads=2, batch=2, nq=30, nk=200, splits=2, tokens_first=True, stubborn=True
    ),
    "a head in slices": Problem(head_dim=384, heads=1, kv_heads=1, nq=20, nk=100, splits=2),
    "Turing": Problem(head_dim=72, dtype=torch.float16, nq=20, nk=200, splits=3, turing=True),
    "tokens that lie far apart": Problem(head_dim=64, nq=70, nk=200, heads=1, kv_heads=1, splits=3, far="token"),
}


@pytest.mark.slow_after(12)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_parts_are_joined_to_what_one_block_computes(emulator, problem):
    for number in emulator.numbers(problem)[-2:]:
        if emulator.instances[number].kind == FORWARD:
            verdict = emulator.run(problem, number)
            assert (verdict.error, verdict.bank_conflicts) == ("", 0)
            assert max(verdict.output, verdict.lse) <= 1


def test_the_same_bits_in_any_order_of_warps(emulator):
    problem = PROBLEMS["parts of different lengths, the last ragged"]
    first, second = (emulator.compute(problem, emulator.numbers(problem)[-1], order).tensors for order in (1, 2))
    assert first.out.equal(second.out) and first.lse.equal(second.lse)


def splits(emulator, problem, card, **changes):
    """The planned number of splits, 1 where the plan names none; its workspace has room for exactly these."""
    plan = emulator.plan(problem, card, **changes)
    count = int(plan.text.rpartition(", ")[2].removesuffix(" splits")) if plan.text.endswith(" splits") else 1
    sizes = {name: getattr(problem, name) for name in ("batch", "heads", "nq", "head_dim")} | changes
    rows = sizes["batch"] * sizes["heads"] * sizes["nq"]
    assert plan.workspace_bytes == (count > 1) * count * rows * (4 * sizes["head_dim"] + 8)
    return count


@pytest.mark.parametrize("card", CARDS)
def test_few_queries_of_many_keys_are_split(emulator, card):
    assert emulator.plan(FEW, card).instance.kind == FORWARD
    assert 2 <= splits(emulator, FEW, card) <= 16
    assert splits(emulator, replace(FEW, key_mask="random"), card) > 1
    assert splits(emulator, FEW, card, heads=1, kv_heads=1, nq=16) > 8
    assert splits(emulator, FEW, card, head_dim=64, heads=16, kv_heads=16, nq=64, nk=4096) > 1


@pytest.mark.parametrize("card", CARDS)
def test_what_fills_the_card_is_not_split(emulator, card):
    for changes in (
        {"nq": 4608},
        {"nq": 1024, "nk": 1024, "head_dim": 64, "heads": 20, "kv_heads": 20},  # of SDXL
        {"nq": 256, "nk": 256, "batch": 2},
        {"nk": 300},  # not worth a second kernel
        {"nk": 77},
        {"nq": 0, "nk": 4608},
        {"heads": 1, "kv_heads": 1, "nq": 16384, "nk": 16384, "head_dim": 512},  # of an autoencoder
    ):
        assert splits(emulator, FEW, card, **changes) == 1, changes


@pytest.mark.parametrize("more", [{"table": "random"}, {"int8": True}, {"int8_all": True}])
def test_only_16_bit_attention_without_a_table_is_split(emulator, more):
    plan = emulator.plan(replace(FEW, nq=128, **more), H200)
    assert plan.instance is not None and "splits" not in plan.text


def test_sums_take_32_megabytes_at_most(emulator):
    found = splits(emulator, FEW, H200, batch=1, heads=1, kv_heads=1, nq=8192, head_dim=256, nk=65536)
    assert found * 8192 * (4 * 256 + 8) <= 2**25
