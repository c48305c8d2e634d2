"""What is measured, beside what, and what a row says; by a stopwatch that the test holds."""

import subprocess
import sys

import pytest
import torch
from fake_products import EmulatedBlackwell, FakeProducts

from mezzotint import codec
from mezzotint.benchmarks import product_peers
from mezzotint.benchmarks import products as benchmark
from mezzotint.benchmarks.attention import quiet
from mezzotint.benchmarks.product_shapes import GROUPS, SHAPES, LinearShape, RowsShape
from mezzotint.benchmarks.products import BLOCK_SCALED, OURS, REFERENCE, ProductRow, choose, kernels_for, measure
from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.products.compiled import CompiledLinear

CPU = torch.device("cpu")
TINY = LinearShape(group="sdxl", name="tiny", rows=20, columns=128, outputs=64)
PEERS = ["torch linear", "torch._int_mm"]


@pytest.fixture(autouse=True)
def times(monkeypatch):
    """Milliseconds of each implementation in the order in which they run."""
    left = [8.0, 4.0, 2.0, 2.5, 1.0]

    def milliseconds(calls, device):
        for call in calls:
            call()
        return left.pop(0) if left else 1.0

    monkeypatch.setattr(benchmark, "milliseconds", milliseconds)
    return left


def rows_of(shape=TINY, dtype=torch.bfloat16, library=None):
    compiled = None if library is None else CompiledLinear(library)
    with quiet():
        return {row.implementation: row for row in measure([shape], CPU, dtype, compiled)}


def assert_errors(errors):
    """Inputs of 8 bits lose little, those of 4 more, and 8-bit floats are between them."""
    for name, error in errors.items():
        low, high = (0.05, 0.2) if name.endswith("int4-rot") else (0, 0.02)
        low, high = (0.01, 0.05) if name.endswith(("fp8", "svdquant")) else (low, high)
        assert low < error < high, name


def test_on_a_processor_the_exact_reference_is_measured():
    rows = rows_of(dtype=torch.float32)
    assert list(rows) == [*PEERS, *REFERENCE]
    assert [row.ratio for row in rows.values()] == [None, 2.0, 4.0, 3.2, *[8.0] * 6]
    assert [row.with_loras for row in rows.values()] == [None, None, None, 1.25, *[None] * 6]
    assert rows["torch linear"].tops == pytest.approx(2 * 20 * 128 * 64 / 8e-3 / 1e12)
    assert_errors({name: rows[name].error for name in REFERENCE})
    assert rows["torch linear"].error < 1e-6
    assert all(row.problem is None and row.device == "cpu" and row.dtype == "float32" for row in rows.values())


def test_ours_beside_torch_s():
    library = FakeProducts()
    rows = rows_of(library=library)
    assert list(rows) == [*PEERS, *OURS]
    assert [rows[name].ratio for name in OURS] == [4.0, 3.2, *[8.0] * 6]
    assert rows[OURS[1]].with_loras == 1.25
    assert_errors({name: rows[name].error for name in OURS})
    assert {asked.rank for asked in library.multiplied} == {0, 48, 32}
    bits = {(asked.weight_bits, asked.x_bits) for asked in library.multiplied}
    assert bits == {(8, 8), (4, 8), (4, 4)}


@pytest.fixture(scope="module")
def blackwell():
    return EmulatedBlackwell()


def test_block_scaled_products_where_there_are_kernels(blackwell):
    rows = rows_of(library=blackwell)
    assert list(rows) == [*PEERS, *OURS, *BLOCK_SCALED]
    assert 0.02 < rows["mezzotint mxfp8"].error < 0.04 and 0.08 < rows["mezzotint nvfp4"].error < 0.11
    assert all(rows[name].ratio is not None and rows[name].problem is None for name in BLOCK_SCALED)


@pytest.mark.parametrize("preparation", [each for each in Preparation if each not in (2, 3)], ids=str)
@pytest.mark.parametrize("library", [None, FakeProducts()], ids=["torch", "kernels"])
def test_rows_beside_a_copy_of_as_many_bytes(preparation, library):
    shape = RowsShape(group="rows", name="tiny", rows=20, columns=64, preparation=preparation)
    rows = rows_of(shape, library=library)
    name = "torch rows" if library is None else "mezzotint rows"
    assert list(rows) == ["copy", name]
    assert rows[name].ratio == 2.0 and rows[name].outputs is None and rows[name].problem is None
    assert rows["copy"].gigabytes == pytest.approx(shape.bytes / 8e-3 / 1e9)
    assert shape.bytes == 20 * (64 * (5 if preparation is Preparation.GEGLU else 3) + 4)


@pytest.mark.parametrize(
    ("library", "problem"),
    [
        (FakeProducts(depths={64}), "in is 128"),
        (FakeProducts("launch"), "the launch failed"),
        (FakeProducts("bug"), "x_stride is 3"),
    ],
)
def test_what_cannot_run_is_a_row_that_says_why(library, problem):
    row = rows_of(library=library)[OURS[0]]
    assert (row.milliseconds, row.tops, row.ratio) == (None, None, None)
    assert problem in row.problem


def test_a_wrong_kernel_shows():
    assert rows_of(library=FakeProducts("wrong"))[OURS[0]].error == pytest.approx(0.1, rel=0.1)
    row = rows_of(library=FakeProducts("nan"))[OURS[0]]
    assert (row.error, row.problem) == (None, "the result contains NaN")


def test_a_peer_of_another_version_is_a_row_that_says_so(monkeypatch):
    def other(x, weight):
        raise AttributeError("it has no such name")

    monkeypatch.setattr(product_peers, "_int_mm", other)
    row = rows_of()["torch._int_mm"]
    assert row.milliseconds is None and row.problem == "AttributeError: it has no such name"


def test_a_row_is_json_and_back():
    (row, *_) = rows_of().values()
    assert codec.from_json(ProductRow, codec.to_json(row)) == row


def test_the_shapes_of_a_processor_are_small():
    assert {shape.group for shape in choose([], CPU)} == set(GROUPS)
    assert max(shape.rows for shape in choose([], CPU)) <= 128
    assert choose(["flux"], torch.device("cuda")) == [shape for shape in SHAPES if shape.group == "flux"]


def test_what_is_not_measured_is_said():
    kernels, problem = kernels_for(CPU)
    assert kernels is None and problem


@pytest.mark.slow
def test_alone_it_needs_nothing_but_torch():
    code = """if True:
        import sys

        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("platformdirs", "diffusers", "transformers", "PIL", "rich", "psutil"):
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Absent())
        from mezzotint.benchmarks.products import choose, kernels_for, measure
        import torch
        cpu = torch.device("cpu")
        assert list(measure(choose(["nothing"], cpu), cpu, torch.float32, kernels_for(cpu)[0])) == []
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
