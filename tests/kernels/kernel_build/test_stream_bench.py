"""The streamed network that cards are measured with: it computes the same wherever its weights are."""

import json

import pytest
import torch

from kernel_build import stream_bench
from kernel_build.results import Place
from kernel_build.stream_bench import Flux, Shape, measure
from kernel_build.stream_rows import row_of
from kernel_build.targets import STREAM_TARGETS
from mezzotint.memory.device import open_device

SMALL = Shape(width=64, heads=4, doubles=2, singles=4, image=24, words=8)
PLACE = Place(gpu="NVIDIA H200", commit="abc", date="2026-01-01", command="make gpu-check")


def test_a_row_for_each_rate():
    rows = list(measure("cpu", SMALL, limit=600_000, rates=(None, 12e9)))
    total = 4 * sum(parameter.numel() for parameter in Flux(SMALL, torch.float32).parameters())
    assert [row["rate"] for row in rows] == [None, 12e9]
    for row in rows:
        assert row["weights_bytes"] == total and 0 <= row["resident_bytes"] < total
        assert row["seconds"] > 0 and json.dumps(row)
    assert rows[1]["bound_seconds"] >= (total - rows[1]["resident_bytes"]) / 12e9


def test_its_shape_is_that_of_flux():
    with torch.device("meta"):
        double, single = stream_bench._Double(Shape()), stream_bench._Single(Shape())
    count = 19 * sum(p.numel() for p in double.parameters()) + 38 * sum(p.numel() for p in single.parameters())
    assert 11e9 < count < 12.5e9


@torch.inference_mode()
def test_streamed_it_computes_the_same():
    network, x = Flux(SMALL, torch.float32), torch.randn(1, 32, 64)
    plain = network(x)
    device = open_device(torch.device("cpu"), reading=False)
    streamed = stream_bench._streamed(network, 1, 2, device.copier, device.arena)
    streamed.enter()
    streamed.ready()
    assert torch.equal(network(x), plain)
    streamed.leave()


@pytest.mark.parametrize(("rate", "target"), zip((None, 24e9, 12e9), STREAM_TARGETS, strict=True))
def test_rows_meet_their_targets(rate, target):
    measured = {
        "limit_bytes": 8 * 2**30,
        "rate": rate,
        "weights_bytes": 100,
        "resident_bytes": 25,
        "compute_seconds": 0.1,
        "seconds": 0.21,
        "bound_seconds": 0.2,
    }
    row = row_of(measured, PLACE)
    assert (row.what, row.target) == (target.what, target.target)
    assert "25% of the weights stay" in row.figure and "1.05 times the bound" in row.figure
