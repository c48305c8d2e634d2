"""What is measured, beside what, and what a row says; by a stopwatch that the test holds."""

import subprocess
import sys

import pytest
import torch
from fake_kernels import FakeKernels

from mezzotint import codec
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.benchmarks import attention as benchmark
from mezzotint.benchmarks.attention import BenchRow, choose, dtype_for, kernels_for, measure
from mezzotint.benchmarks.attention_shapes import GROUPS, SHAPES, Shape

CPU = torch.device("cpu")
TINY = Shape(group="sdxl", name="tiny", batch=2, heads=2, nq=70, nk=40, head_dim=16)


@pytest.fixture(autouse=True)
def times(monkeypatch):
    """Milliseconds of each implementation in the order in which they run: 8, 4, 2, 1."""
    left = []

    def milliseconds(calls, device, *, captured):
        assert captured
        for call in calls:
            call()
        return left.pop(0) if left else 1.0

    left.extend([8.0, 4.0, 2.0, 1.0])
    monkeypatch.setattr(benchmark, "milliseconds", milliseconds)
    return left


def rows_of(shape=TINY, dtype=torch.bfloat16, kernels=None):
    compiled = None if kernels is None else CompiledAttention(kernels)
    with benchmark.quiet():
        return {row.implementation: row for row in measure([shape], CPU, dtype, compiled)}


def test_on_a_processor_without_kernels():
    rows = rows_of(dtype=torch.float32)
    assert list(rows) == ["sdpa flash", "sdpa math", "reference"]
    assert [row.milliseconds for row in rows.values()] == [8.0, 4.0, 2.0]
    assert [row.ratio for row in rows.values()] == [None, None, 2.0]
    assert rows["sdpa math"].tflops == pytest.approx(4 * 2 * 2 * 70 * 40 * 16 / 4e-3 / 1e12)
    assert all(row.error < 1e-5 and row.problem is None and row.peak_bytes is None for row in rows.values())
    assert rows["reference"].device == "cpu" and rows["reference"].torch == torch.__version__


def test_ours_beside_the_best_of_torch_s(times):
    times[:] = [8.0, 4.0, 2.0, 1.0, 2.0, 16.0]
    rows = rows_of(kernels=FakeKernels())
    assert list(rows) == [
        "sdpa flash",
        "sdpa math",
        "reference",
        "mezzotint flash",
        "mezzotint flash-fp16",
        "mezzotint int8",
        "mezzotint int8-all",
        "mezzotint int8-fp8",
    ]
    assert (rows["mezzotint flash"].ratio, rows["mezzotint int8"].ratio) == (4.0, 0.25)
    assert rows["mezzotint flash"].dtype == "bfloat16"
    assert [row.kernel for row in rows.values()] == [None] * 3 + ["fake"] * 5
    assert 0 < rows["mezzotint flash"].error < 0.01


def test_padding_is_hidden_from_all_alike():
    shape = Shape(group="cross", name="padded", batch=2, heads=2, nq=70, nk=40, head_dim=16, words=(1, 7))
    kernels = FakeKernels()
    rows = rows_of(shape, kernels=kernels)
    assert all(row.error < 0.02 and row.words == (1, 7) for row in rows.values())
    assert all(launch.key_lengths for launch in kernels.launches)


def test_keys_that_heads_share():
    rows = rows_of(Shape(group="heads", name="shared", batch=1, heads=4, kv_heads=2, nq=9, nk=9, head_dim=16))
    assert all(row.error < 0.02 and row.kv_heads == 2 for row in rows.values())


@pytest.mark.parametrize(
    ("kernels", "problem"),
    [
        (FakeKernels(head_sizes={64}), "no kernel for head_dim 16"),
        (FakeKernels("launch"), "the launch failed"),
        (FakeKernels("bug"), "q_stride[0] is 3"),
    ],
)
def test_what_cannot_run_is_a_row_that_says_why(kernels, problem):
    row = rows_of(kernels=kernels)["mezzotint flash"]
    assert (row.milliseconds, row.tflops, row.ratio) == (None, None, None)
    assert problem in row.problem


def test_a_wrong_kernel_shows():
    assert rows_of(kernels=FakeKernels("wrong"))["mezzotint flash"].error == pytest.approx(0.1, rel=0.1)
    row = rows_of(kernels=FakeKernels("nan"))["mezzotint flash"]
    assert (row.error, row.problem) == (None, "the result contains NaN")


def test_a_row_is_json_and_back():
    (row, *_) = rows_of().values()
    assert codec.from_json(BenchRow, codec.to_json(row)) == row


def test_the_shapes_of_a_processor_are_small():
    assert [shape.name for shape in choose(["cross"], CPU)] == [each.name for each in SHAPES if each.group == "cross"]
    assert {shape.group for shape in choose([], CPU)} == set(GROUPS)
    assert max(shape.nq for shape in choose([], CPU)) <= 256
    assert choose(["vae"], torch.device("cuda"))[1].nq == 16384
    assert dtype_for(CPU) == torch.float32


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
        from mezzotint.benchmarks.attention import choose, kernels_for, measure
        import torch
        cpu = torch.device("cpu")
        assert list(measure(choose(["nothing"], cpu), cpu, torch.float32, kernels_for(cpu)[0])) == []
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
