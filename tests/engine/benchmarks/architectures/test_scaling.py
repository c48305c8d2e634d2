"""Operations grow as the literature says; times are reported, not tested."""

import pytest
import torch

from mezzotint.benchmarks.architectures import scaling
from mezzotint.benchmarks.architectures.scaling import kinds, measure_scaling, slopes


@pytest.fixture(autouse=True)
def _stopwatch(monkeypatch):
    monkeypatch.setattr(scaling, "milliseconds", lambda calls, device: 2.0)


@pytest.mark.slow
def test_slopes_of_operations():
    rows = list(measure_scaling((64, 1024, 4096)))
    assert {row.kind for row in rows} == set(kinds())
    found = {each.kind: each for each in slopes(rows)}
    assert set(found) == set(kinds())
    for kind, slope in found.items():
        if kind == "lsh":  # more buckets for more tokens, so that hashing grows, too
            assert 1 <= slope.operations <= 1.5
        else:
            assert slope.operations == pytest.approx(slope.claimed, abs=0.2), kind
        assert slope.time == 0
    assert found["dense"].memory == pytest.approx(1, abs=0.05)
    assert found["dense, scores in memory"].memory == pytest.approx(2, abs=0.05)


def test_every_kind_attends_with_weights_that_add_up_to_one():
    """Values that are all equal are what every query gets; but for kinds whose weights are only estimated or scaled."""
    q, k = torch.randn(2, 1, 4, 64, 32, generator=torch.Generator().manual_seed(0)).unbind()
    for kind, attend in kinds().items():
        out = attend(q, k, torch.ones(1, 4, 64, 32))
        assert out.shape == q.shape
        if kind not in ("efficient", "random features", "linformer"):
            torch.testing.assert_close(out, torch.ones_like(out), rtol=1e-3, atol=1e-3, msg=kind)


def test_chosen_kinds_alone(monkeypatch):
    monkeypatch.setattr(scaling, "_SLOWEST", 64)
    rows = list(measure_scaling((64, 128), ("dense", "dense, scores in memory")))
    assert [(row.kind, row.tokens) for row in rows] == [
        ("dense", 64),
        ("dense", 128),
        ("dense, scores in memory", 64),  # more would not fit
    ]
    assert slopes(rows) == []
