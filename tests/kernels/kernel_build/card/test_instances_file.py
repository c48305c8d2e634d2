"""The best instance of each problem, as a file; wrong ones are never the best."""

import json

import pytest

from kernel_build.card.instances_file import NAME, write_instances
from kernel_build.card.machine import Device
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import Record

FORWARD = "mezzotint forward bfloat16 d64 {}, 128 threads #{}"


@pytest.fixture
def record(tmp_path):
    device = Device(name="Paper Card", capability=(9, 0), torch="2.11", cuda="13.0")
    return Record(path=tmp_path / "results.json", commit="abc", device=device)


def swept(record, implementation, milliseconds, part="sweep-attention", error=0.001, outcome="ok"):
    measured = {"shape": "SDXL, 64x64", "implementation": implementation, "milliseconds": milliseconds, "error": error}
    measured |= {"kernel": "forward bfloat16 d64 128x64", "head_dim": 64} if part == "sweep-attention" else {}
    record.add(part, Row(item=f"SDXL, 64x64: {implementation}", outcome=outcome, measured=measured))


def test_the_best_of_each_problem_and_what_was_chosen(record):
    swept(record, "mezzotint chooses", 1.5)
    swept(record, FORWARD.format("128x64", 0), 1.5)
    swept(record, FORWARD.format("64x64", 1), 1.0)
    swept(record, FORWARD.format("32x32", 2), 0.1, error=0.5)
    swept(record, FORWARD.format("16x16", 3), None, outcome="failed")
    swept(record, "mezzotint int8 bfloat16 d64 64x64, 128 threads #4", 0.7)
    sixteen, eight = write_instances(record)
    assert (sixteen["kind"], sixteen["best"], sixteen["chosen_by_best"]) == ("16 bits", FORWARD.format("64x64", 1), 1.5)
    assert sixteen["chosen"] == "forward bfloat16 d64 128x64" and len(sixteen["all"]) == 2
    assert (eight["kind"], eight["milliseconds"], eight["chosen_by_best"]) == ("int8", 0.7, None)
    words = json.loads(record.path.with_name(NAME).read_text("utf-8"))
    assert (words["device"], words["commit"], len(words["problems"])) == ("Paper Card", "abc", 2)


def test_products_of_8_and_of_4_bits_are_problems_of_their_own(record):
    for name, time in (
        ("chooses, int8", 2.0),
        ("chooses, int4-lowrank", 3.0),
        ("linear int8 w8a8 x #1", 1.0),
        ("linear int4-lowrank w4a8 x #2", 3.0),
        ("chooses, int4-rot", 1.5),
        ("linear int4-rot w4a4 x #3", 0.5),
    ):
        swept(record, f"mezzotint {name}", time, "sweep-linear")
    assert [(each["kind"], each["chosen_by_best"]) for each in write_instances(record)] == [
        ("int8", 2.0),
        ("int4-lowrank", 1.0),
        ("int4-rot", 3.0),
    ]


def test_without_a_sweep_there_is_no_file(record):
    assert write_instances(record) == [] and not record.path.with_name(NAME).exists()
