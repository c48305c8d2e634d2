"""The kernels that quantize rows on the emulator, by fuzzed problems and by those that are most easily got wrong."""

import random

import pytest
import torch
from emulated_quantize import NORMS, UNTOUCHED, Operands, Problem, QuantizeEmulator, judge
from quantize_reference import LARGEST, hadamard, scales_of

from mezzotint_kernels.abi import Preparation

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
GROUPS = (0, 4, 16, 64, 256)
PATTERNS = ("normal", "normal", "offset", "outliers", "zeros", "integers", "ties", "tiny", "large")
COLUMNS = (16, 32, 64, 128, 240, 256, 272, 320, 512, 640, 768, 1152, 1280, 1536, 2304, 3072, 4608)
FUZZED = 24  # of each preparation and format
MOST_NUMBERS = 20_000  # of a problem


@pytest.fixture
def emulator(emulated):
    return QuantizeEmulator(emulated)


def fuzzed(preparation, dtype, number):
    """A problem with that preparation; the same in every run."""
    lots = random.Random(f"{preparation} {dtype} {number}")
    columns, pattern = lots.choice(COLUMNS), PATTERNS[number % len(PATTERNS)]
    rows = min(lots.choice((1, 2, 3, 7, 16, 17, 40, 70)), max(1, MOST_NUMBERS // columns))
    return Problem(
        rows=rows,
        columns=columns,
        group=lots.choice([group for group in GROUPS if not group or columns % group == 0]),
        dtype=dtype,
        preparation=preparation,
        weights=lots.choice(("", "w", "b", "wb")) if preparation in NORMS else "",
        rows_per_batch=lots.choice((0, 1, 3, rows, rows + 5)),
        gap=lots.choice((0, 1, 3)),
        pattern=pattern,
        epsilon=lots.choice((1e-6, 1e-5) if pattern in ("zeros", "tiny") else (0.0, 1e-6, 1e-5)),
        turing=number % 2 == 1,
        seed=number,
    )


HARD = {
    "one number in 16": Problem(rows=1, columns=16),
    "the widest row": Problem(rows=2, columns=16384, group=256, preparation=Preparation.LAYER_NORM),
    "the widest row of two halves": Problem(rows=1, columns=16384, group=64, preparation=Preparation.GEGLU),
    "a team for each row": Problem(rows=67, columns=256, group=256, preparation=Preparation.LAYER_NORM),
    "a team that is half empty": Problem(rows=9, columns=1152, group=64, preparation=Preparation.LAYER_NORM),
    "one more chunk than teams have": Problem(rows=9, columns=528, group=16, preparation=Preparation.RMS_NORM),
    "an odd number of teams": Problem(rows=14, columns=2304, group=256, preparation=Preparation.SILU),
    "many teams, and more in the next row": Problem(rows=3, columns=12288, preparation=Preparation.RMS_NORM),
    "more rows than batches": Problem(rows=50, columns=64, rows_per_batch=7, preparation=Preparation.LAYER_NORM),
    "a large mean": Problem(rows=8, columns=640, pattern="offset", preparation=Preparation.LAYER_NORM, epsilon=0),
    "epsilon is most of it": Problem(pattern="tiny", preparation=Preparation.RMS_NORM, rows=20),
    "rows of zeros, normalized": Problem(pattern="zeros", preparation=Preparation.LAYER_NORM, rows=20, group=64),
    "only zeros and a modulation": Problem(
        pattern="zeros", preparation=Preparation.LAYER_NORM, rows=20, rows_per_batch=4, group=16
    ),
    "no columns": Problem(rows=3, columns=0),
}


def check(emulator, problem):
    verdict = emulator.run(problem)
    assert verdict.error == ""
    assert verdict.scales <= 1, f"scales are {verdict.scales:.3g} times as far off as they may be"
    assert verdict.values <= 1, f"integers are {verdict.values:.3g} times as far off as they may be"
    return verdict


@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("preparation", Preparation, ids=lambda each: each.name.lower())
def test_fuzzed_problems(emulator, preparation, dtype):
    for number in range(FUZZED):
        problem = fuzzed(preparation, dtype, number)
        verdict = emulator.run(problem)
        assert verdict.right, f"{verdict.error} {verdict.scales:.3g} {verdict.values:.3g}: {problem}"


@pytest.mark.parametrize("problem", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, problem):
    check(emulator, problem)


def test_every_number_of_teams(emulator):
    """A row of up to 64 teams, the last of them partly filled; more rows than a block has."""
    for teams in range(1, 65):
        columns = 256 * teams - 16 * (teams % 16)
        problem = Problem(rows=2 + 34 // teams, columns=columns, preparation=Preparation.LAYER_NORM, seed=teams)
        verdict = emulator.run(problem)
        assert verdict.right, f"{verdict.error} {verdict.scales:.3g} {verdict.values:.3g}: {problem}"


@pytest.mark.parametrize("pattern", ["ties", "integers"])
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16"])
def test_integers_of_exact_numbers_are_the_very_ones(emulator, pattern, group, dtype):
    """Halves go to the even neighbour, and quotients are those of a division."""
    problem = Problem(rows=33, columns=768, group=group, pattern=pattern, dtype=dtype, gap=1)
    assert problem.exact
    assert check(emulator, problem).ties == 0


def test_others_differ_at_ties_alone_and_seldom(emulator):
    verdicts = [
        check(emulator, Problem(rows=40, columns=1280, group=256, preparation=each, seed=seed))
        for each in Preparation
        for seed in (1, 2)
    ]
    numbers = sum(verdict.numbers for verdict in verdicts)
    assert numbers == 12 * 40 * 1280
    assert sum(verdict.ties for verdict in verdicts) <= 1e-4 * numbers


def test_largest_of_each_row_is_127(emulator):
    operands = check(emulator, Problem(rows=30, columns=640, group=64, preparation=Preparation.GEGLU)).operands
    assert set(operands.values.abs().amax(dim=1).tolist()) == {LARGEST}


def test_a_row_of_zeros_has_scale_1(emulator):
    operands = check(emulator, Problem(pattern="zeros", rows=7)).operands
    assert operands.scales.flatten()[::3].tolist() == [1, 1, 1]
    assert int(operands.values[::3].abs().sum()) == 0
    assert int(operands.values[1].abs().max()) == LARGEST


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf")], ids=str)
@pytest.mark.parametrize("group", [0, 64])
@pytest.mark.parametrize("preparation", [Preparation.AS_IT_IS, Preparation.RMS_NORM, Preparation.GELU_TANH])
def test_a_number_that_is_none_shows_in_its_row_s_scale_and_in_no_other(emulator, broken, group, preparation):
    problem = Problem(rows=20, columns=512, group=group, preparation=preparation)
    right = emulator.run(problem).operands
    seen = emulator.run(
        problem, spoil=lambda operands: operands.x[11].fill_(1).index_fill_(0, torch.tensor(300), broken)
    )
    scales = seen.operands.scales.flatten()
    assert [row for row in range(20) if not bool(scales[row].isfinite())] == [11]
    others = [row for row in range(20) if row != 11]
    assert torch.equal(seen.operands.values[others], right.values[others])


@pytest.mark.parametrize("preparation", [Preparation.LAYER_NORM, Preparation.GEGLU])
def test_order_of_warps_does_not_matter(emulator, preparation):
    problem = Problem(rows=11, columns=3072, group=256, preparation=preparation)
    first, *others = (emulator.run(problem, order=order).operands for order in (1, 2, 3))
    for other in others:
        assert torch.equal(first.values, other.values)
        assert torch.equal(first.scales, other.scales)


def test_rotating_twice_is_nothing_done(emulator):
    """Of integers, by the reference: the kernels' rotation is its own inverse."""
    operands = check(emulator, Problem(rows=6, columns=512, group=256, pattern="integers")).operands
    rotated = operands.values.double() * operands.scales.double()
    again = (rotated.unflatten(1, (-1, 256)) @ hadamard(256)).flatten(1)
    assert float((again - operands.x.double()).abs().max()) <= 8 * float(operands.scales.max())


@pytest.mark.parametrize("group", GROUPS[1:])
def test_the_reference_s_matrix_is_orthogonal_symmetric_and_regular(group):
    matrix = hadamard(group)
    assert torch.equal(matrix, matrix.T)
    assert torch.equal(matrix @ matrix, torch.eye(group, dtype=torch.float64))
    assert set(matrix.sum(dim=0).tolist()) == {1.0}
    assert set(matrix.abs().flatten().tolist()) == {group**-0.5}


def test_the_reference_s_scales():
    rows = torch.tensor([[0.0, -254.0], [0.0, 0.0], [1e-45, 0.0]])
    assert scales_of(rows).flatten().tolist() == [2.0, 1.0, torch.finfo(torch.float32).tiny]


def test_a_wrong_answer_is_seen(emulator):
    problem = Problem(rows=12, columns=320, gap=1, group=64, preparation=Preparation.LAYER_NORM, rows_per_batch=5)
    operands = emulator.run(problem).operands
    assert judge(operands).right
    operands.values[7, 13] += 1
    assert not judge(operands).right
    operands.values[7, 13] -= 1
    operands.scales[3] *= 1 + 1e-5
    assert not judge(operands).right
    operands.scales[3] /= 1 + 1e-5
    assert judge(operands).right
    operands.values.as_strided((1,), (1,), operands.values.storage_offset() + 320)[0] = UNTOUCHED + 1
    assert not judge(operands).right


def test_memory_ends_where_the_tensors_end():
    operands = Operands(Problem(rows=3, columns=64, gap=2, weights="wb", rows_per_batch=2))
    assert operands.x.stride(0) == 64 + 16
    assert operands.values.stride(0) == 64 + 32
    assert bool(operands.x.as_strided((16,), (1,), 64).isnan().all())
