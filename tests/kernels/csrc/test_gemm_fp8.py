"""The product of 8-bit floats on the emulator, whose products keep as few bits of a sum as those of a card."""

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import LinearEmulator, Operands, Problem
from fuzzed_products import DTYPES, ENDS, check, fuzzed, name_of
from linear_instances import Card

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def fp8(**changes):
    """A problem with floats on both sides."""
    return Problem(floats=True, **changes)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


FUZZED = [
    fuzzed(fp8, (16, 48, 64, 80, 128, 320), number, dtype=dtype, shared_scale=number % 2 == 1, **end)
    for dtype in DTYPES
    for number, end in enumerate(ENDS)
]


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each problem a kernel, so that all have their turn."""
    emulator = LinearEmulator(quick_library)
    return in_turn({problem: emulator.numbers(problem) for problem in FUZZED})


@pytest.mark.parametrize("problem", FUZZED, ids=name_of)
def test_fuzzed_problem(emulator, choice, problem):
    check(emulator, problem, choice[problem])


def test_fuzzed_problems_leave_nothing_out(emulator, choice):
    assert set(choice.values()) == {number for number, each in enumerate(emulator.instances) if each.floats}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_number_comes_out_exactly(emulator, dtype):
    """The identity on one side lets the floats of the other come out, unrounded and each in its place."""
    left = fp8(dtype=dtype, rows=128, depth=128, columns=136, pattern="x")
    right = fp8(dtype=dtype, rows=136, depth=128, columns=128, pattern="weight", shared_scale=True)
    assert len(Operands(left).codes.unique()) > 200  # of 253
    for number in emulator.numbers(left):
        verdict = check(emulator, left, number)
        assert torch.equal(verdict.out.double(), verdict.operands.codes.double().T)
        verdict = check(emulator, right, number)
        assert torch.equal(verdict.out.double(), verdict.operands.x.double())


HARD = {
    "one row, eight columns": {"rows": 1, "columns": 8, "depth": 16},
    "no columns of x": {"depth": 0, "bias": True, "residual": "given"},
    "the largest sums": {"depth": 6400, "rows": 2, "columns": 8, "pattern": "largest", "dtype": torch.bfloat16},
    "full tiles": {"rows": 128, "columns": 128, "depth": 192},
    "rows far apart": {"gap": 50, "rank": 16, "gate": 9, "residual": "given"},
    "many tiles deep, of one sign": {"depth": 3200, "rows": 20, "columns": 40, "pattern": "positive"},
}


@pytest.mark.parametrize("changes", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, changes):
    problem = fp8(**changes)
    for number in emulator.numbers(problem)[-1:]:
        check(emulator, problem, number)


def test_long_sums_are_as_good_as_short_ones(emulator):
    """Sums of one sign, 3200 deep, whose products alone would lose a tenth."""
    problem = fp8(depth=3200, rows=20, columns=40, pattern="positive", dtype=torch.float16)
    verdict = check(emulator, problem, emulator.numbers(problem)[-1])
    wanted, _ = verdict.operands.wanted()
    assert float(((verdict.out.double() - wanted).abs() / wanted).max()) < 2e-3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_number_that_is_none_shows_in_its_row_and_column(emulator, dtype):
    problem = fp8(dtype=dtype, rows=20, columns=24, depth=64)
    verdict = emulator.run(problem, emulator.numbers(problem)[0], spoil=lambda each: each.stored_x[11].fill_(0x7F))
    assert [row for row in range(20) if bool(verdict.out[row].isnan().all())] == [11]
    assert not bool(verdict.out[:11].isnan().any())


def test_nothing_is_multiplied_twice(emulator):
    problem = fp8(rows=128, columns=128, depth=256)
    for number in emulator.numbers(problem):
        assert check(emulator, problem, number).products == 128 * 128 * 256 // 4096


@pytest.mark.parametrize("architecture", [75, 80, 86, 89, 90, 120])
def test_it_is_chosen_where_cards_multiply_floats_of_8_bits(emulator, architecture):
    card = Card(architecture=architecture, multiprocessors=100, shared_bytes=99 * 1024)
    plan = emulator.plan(card, rows=4096, depth=3072, columns=3072, floats=1)
    if architecture in (89, 120):
        assert plan.instance is not None
        assert plan.text == "linear fp8 w8a8 float16 128x128"
    else:
        assert plan.instance is None
        assert f"architecture {architecture} does not multiply floats of 8 bits" in plan.text


def test_integers_are_never_taken_for_floats(emulator):
    card = Card(architecture=89, multiprocessors=100, shared_bytes=99 * 1024)
    plan = emulator.plan(card, rows=4096, depth=3072, columns=3072)
    assert plan.instance is not None
    assert not plan.instance.floats
