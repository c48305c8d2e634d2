"""Where the time of a job went."""

from dataclasses import replace

import pytest
from draining import result

from mezzotint.protocol import Timings
from mezzotint_app.viewmodel.create.timeline import spans_of

pytestmark = pytest.mark.requires_package("PySide6")


def told(**times):
    usual = {"load": 0.0, "encode": 0.0, "denoise": (), "decode": 0.0, "save": 0.0, "total": 0.0}
    return [
        (one.kind, one.name, one.seconds) for one in spans_of(replace(result([]), timings=Timings(**usual | times)))
    ]


def test_parts_without_time_are_left_out():
    assert told(load=2.0, denoise=(8.0,), decode=0.5, save=0.001) == [
        ("load", "loading", 2.0),
        ("denoise", "0 steps", 8.0),
        ("decode", "decoding", 0.5),
    ]
    assert told() == []


def test_stages_are_numbered():
    assert [name for _, name, _ in told(denoise=(1.0, 2.0))] == ["stage 1 (0 steps)", "stage 2 (0 steps)"]
