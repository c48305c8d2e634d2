"""What rows say of targets: met, missed, or pending for a reason."""

import pytest

from kernel_build.card.machine import STUB, Device
from kernel_build.card.parts import PARTS, chosen
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import Record
from kernel_build.card.verdicts import failures, unfinished, verdicts

LAYER = "SDXL, 4096x640 to 640"


@pytest.fixture
def record(tmp_path):
    device = Device(name="NVIDIA H200", capability=(9, 0), torch="2.11", cuda="13.0")
    return Record(path=tmp_path / "results.json", commit="abc", device=device)


def product(implementation, milliseconds, **more):
    sizes = {"rows": 4096, "columns": 640, "outputs": 640, "dtype": "bfloat16", "problem": None, "gigabytes": None}
    values = {"shape": LAYER, "implementation": implementation, "milliseconds": milliseconds, "tops": 100.0}
    measured = values | sizes | {"ratio": None, "with_loras": None, "error": 0.006} | more
    return Row(item=f"{LAYER}: {implementation}", measured=measured)


def states(record):
    return {each.target.what: (each.state, each.why) for each in verdicts(record) if each.state != "pending"}


@pytest.mark.parametrize(
    ("ours", "with_loras", "expected"),
    [
        (1.0, 1.05, {"mezzotint int8": ("met", ""), "mezzotint int8, 3 LoRAs": ("met", "")}),
        (
            2.5,
            3.0,
            {
                "mezzotint int8": ("missed", "ratio 0.8, at least 1 wanted"),
                "mezzotint int8, 3 LoRAs": ("missed", "with_loras 1.2, at most 1.1 wanted"),
            },
        ),
    ],
)
def test_peers_of_other_processes_decide(record, ours, with_loras, expected):
    record.add("times-linear", product("mezzotint int8", ours))
    record.add("times-linear", product("mezzotint int8, 3 LoRAs", with_loras))
    assert f"{LAYER}: mezzotint int8" not in states(record)
    record.add("times-linear", product("torch linear", 2.0))
    assert states(record) == {f"{LAYER}: {name}": verdict for name, verdict in expected.items()}


def test_what_does_not_run_or_is_wrong_leaves_its_target_pending(record):
    record.add("times-linear", product("torch linear", 2.0))
    record.add("times-linear", product("mezzotint int8", 0.1, error=0.9))
    assert states(record) == {}
    assert failures(record) == [f"{LAYER}: mezzotint int8: error 9.0e-01, and 0.05 is allowed"]


def test_a_sweep_decides_no_target(record):
    for row in (product("torch linear", 2.0), product("mezzotint int8", 1.0)):
        record.add("sweep-linear", row)
    assert states(record) == {}


def test_a_stub_meets_and_misses_nothing(record):
    record.device = Device(name=STUB, capability=None, torch="2.11", cuda=None)
    for row in (product("torch linear", 2.0), product("mezzotint int8", 9.0)):
        record.add("times-linear", row)
    assert states(record) == {}


def test_what_is_left_is_what_was_not_done_or_not_to_its_end(record):
    record.end("tests-linear", "complete", None, 1)
    record.end("tests-quantize", "unfinished", "its time was over", 1)
    assert unfinished(record, chosen(("tests",))) == [
        "tests-quantize",
        "tests-attention",
        "tests-backward",
        "tests-kernelized",
        "tests-engine",
    ]
    assert unfinished(record, []) == [] and len(PARTS) > 4
