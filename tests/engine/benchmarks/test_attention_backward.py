"""What is measured of gradients: the backward alone, beside SDPA's, against float32."""

import pytest
import torch
from fake_backward import FakeBackward
from fake_kernels import FakeKernels

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.benchmarks import attention as benchmark
from mezzotint.benchmarks.attention import measure_shape
from mezzotint.benchmarks.attention_backward import GRADIENTS, gradient_implementations, gradient_shapes, quiet
from mezzotint.benchmarks.attention_shapes import Shape

CPU = torch.device("cpu")
TINY = Shape(group="cross", name="tiny", batch=2, heads=4, kv_heads=2, nq=70, nk=40, head_dim=16, words=(1, 7))


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    """Each call takes 2 ms; of a GPU's calls none is captured."""

    def milliseconds(calls, device, *, captured):
        assert not captured
        for call in calls:
            call()
        return 2.0

    monkeypatch.setattr(benchmark, "milliseconds", milliseconds)


def rows_of(backward, *shapes):
    forward = FakeKernels()
    found = gradient_implementations(CPU, CompiledAttention(forward), CompiledBackward(backward))
    with quiet():
        rows = [row for shape in shapes for row in measure_shape(shape, found, CPU, torch.bfloat16, of=GRADIENTS)]
    return rows, forward


def test_ours_beside_torch_s():
    library = FakeBackward()
    rows, forward = rows_of(library, TINY, TINY.small())
    assert [row.implementation for row in rows[:3]] == ["sdpa flash", "sdpa math", "mezzotint flash"]
    assert {row.shape for row in rows} == {"tiny, gradients"}
    assert all(0 < row.error < 0.02 and row.problem is None for row in rows)
    assert rows[2].ratio == 1.0
    assert rows[2].tflops == pytest.approx(10 * 2 * 4 * 70 * 40 * 16 / 2e-3 / 1e12)
    assert len(library.launches) > len(forward.launches) == 4  # one for each input


def test_a_wrong_kernel_shows():
    rows, _ = rows_of(FakeBackward("wrong"), TINY)
    assert rows[2].error == pytest.approx(0.1, rel=0.2)
    rows, _ = rows_of(FakeBackward("unsupported"), TINY)
    assert "no kernel for head_dim 16" in rows[2].problem


def test_shapes_that_are_trained_are_measured():
    assert {"SDXL, 64x64", "FLUX.1, 4096 tokens", "PixArt to padded words"} <= {each.name for each in gradient_shapes()}
