"""Products of few rows, whose sums are split among blocks, on the emulator."""

from dataclasses import replace

import pytest
import torch
from emulated_linear import LinearEmulator, Problem
from linear_instances import Card
from linear_parts import PartsEmulator, PartsProblem

from mezzotint_kernels.abi import Activation

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

CARD = Card(architecture=89, multiprocessors=128, shared_bytes=99 * 1024)
ROOM = 2**24
PROBLEMS = {
    "two halves": Problem(splits=2, depth=512),
    "parts of different lengths": Problem(splits=3, depth=448, dtype=torch.bfloat16, late_copies=False),
    "a part without columns": Problem(splits=4, depth=320, rows=1, columns=8),
    "all that comes after": Problem(splits=2, depth=208, rank=48, bias=True, gate=9, residual="out", gap=1),
    "GELU": Problem(splits=5, depth=640, bias=True, activation=Activation.ACTIVATE_GELU_TANH, stubborn=True),
    "Turing": Problem(splits=3, depth=400, turing=True, bias=True),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_parts_are_joined_to_what_one_block_sums(emulated, problem):
    emulator = LinearEmulator(emulated)
    (number,) = emulator.numbers(problem)
    verdict = emulator.run(problem, number)
    assert (verdict.error, verdict.bank_conflicts) == ("", 0)
    assert verdict.output <= 1
    whole = replace(problem, splits=1)
    small = next(each for each in emulator.numbers(whole) if emulator.instances[each].tile == (64, 64))
    assert verdict.out.equal(emulator.run(whole, small).out)


def test_several_layers_are_split(emulated):
    emulator, problem = PartsEmulator(emulated), PartsProblem(splits=3, depth=448)
    (number,) = emulator.fitting(problem)
    error, report = emulator.run_parts(problem, number)
    assert report.error == b"" and error <= 1


def plan(emulated, rows, depth, columns, room=ROOM):
    return LinearEmulator(emulated).plan(CARD, rows=rows, depth=depth, columns=columns, workspace_bytes=room)


def test_few_rows_are_split_where_that_fills_the_card(emulated):
    found = plan(emulated, 64, 3072, 3072)
    assert found.instance.is_split and 2 <= found.splits <= 8
    assert found.text == "linear w8a8 split float16 64x64"
    assert plan(emulated, 1, 1280, 1280).splits > 1
    assert plan(emulated, 77, 2048, 640).splits > 1


def test_nothing_is_split_where_there_are_blocks_enough_or_no_room(emulated):
    for rows, depth, columns, room in (
        (4096, 3072, 3072, ROOM),
        (64, 3072, 18432, ROOM),  # as many tiles as the card has places for blocks
        (64, 64, 3072, ROOM),
        (64, 3072, 3072, 0),
        (64, 3072, 3072, 48 * 16384),  # for a single part
    ):
        found = plan(emulated, rows, depth, columns, room)
        assert (found.instance.is_split, found.splits) == (0, 1)


def test_no_more_parts_than_there_is_room_for(emulated):
    assert plan(emulated, 64, 3072, 3072, 2 * 48 * 16384).splits == 2
