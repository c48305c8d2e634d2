"""Queries, keys and values by one product, with norms and rotations of heads, on the emulator."""

import pytest
import torch
from linear_parts import NORM, ROTATE, PartsEmulator, PartsProblem

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

PROBLEMS = {
    "queries, keys and values": PartsProblem(),
    "heads of 128": PartsProblem(head_dim=128, columns=(256, 128, 384)),
    "norms without weights": PartsProblem(weighted=False, dtype=torch.float16, head_dim=128),
    "norms alone": PartsProblem(flags=(NORM, NORM, 0), bias=False, rows=130),
    "rotations alone": PartsProblem(flags=(0, ROTATE, ROTATE), rotation_rows=70),
    "keys and values": PartsProblem(columns=(128, 256), flags=(NORM, 0), depth=320),
    "of no whole wide tiles": PartsProblem(columns=(64, 192, 320), flags=(NORM, ROTATE, 0)),
    "several layers and no more": PartsProblem(flags=(0, 0, 0), rows=200),
    "one row": PartsProblem(rows=1, rotation_rows=1, stubborn=True),
    "Turing": PartsProblem(turing=True, dtype=torch.float16, depth=128),
    "copies at once": PartsProblem(late_copies=False, depth=448, seed=3, head_dim=128),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_every_part_is_its_layer_s(emulated, problem):
    emulator = PartsEmulator(emulated)
    assert emulator.fitting(problem)
    for number in emulator.fitting(problem):
        error, report = emulator.run_parts(problem, number)
        assert (report.error.decode(), report.bank_conflicts) == ("", 0)
        assert error <= 1
