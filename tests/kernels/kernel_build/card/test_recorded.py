"""What was measured on a card goes into the project's table, once; what a stub did never does."""

import pytest

from kernel_build.__main__ import main
from kernel_build.card.machine import STUB, Device
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import open_record, read_record
from kernel_build.card.recorded import record_results
from kernel_build.errors import BuildError
from kernel_build.results import PENDING, read_rows

CARD = Device(name="Paper Card", capability=(9, 0), torch="2.11", cuda="13.0", multiprocessors=132)
WHAT = "SDXL, 64x64: mezzotint flash"


def measured(implementation="mezzotint flash", **changes):
    values = {"shape": "SDXL, 64x64", "implementation": implementation, "milliseconds": 0.3, "tflops": 301.0}
    sizes = {"batch": 2, "heads": 10, "nq": 4096, "nk": 4096, "head_dim": 64, "dtype": "bfloat16"}
    return values | sizes | {"ratio": None, "peak_bytes": None, "error": 0.001, "problem": None} | changes


def folder_of(tmp_path, *rows, device=CARD):
    record = open_record(tmp_path / "results", "abc", device, again=False)
    record.add("tests-linear", Row(item="a test"))
    for row in rows:
        record.add("times-attention", row)
    return tmp_path / "results"


def told(table):
    return [row for row in read_rows(table) if row.figure != PENDING]


def test_a_row_says_where_it_comes_from_and_takes_its_target_s_place(tmp_path):
    folder = folder_of(tmp_path, Row(item=WHAT, measured=measured()), Row(item="p", measured=measured("sdpa flash")))
    assert record_results(folder, tmp_path / "TABLE.md") == 2
    ours, peer = told(tmp_path / "TABLE.md")
    assert (ours.what, ours.gpu, ours.commit, ours.command) == (WHAT, "Paper Card", "abc", "make gpu-check")
    assert ours.target == "at least 470 TFLOP/s" and "1.00 times the best SDPA" in ours.figure
    assert peer.what == "SDXL, 64x64: sdpa flash"


@pytest.mark.parametrize(
    "row",
    [
        Row(item=WHAT, outcome="failed", problem="no", measured=measured(milliseconds=None, problem="no")),
        Row(item=WHAT, measured=measured(error=0.9)),
    ],
)
def test_what_is_wrong_leaves_the_target_pending(tmp_path, row):
    record_results(folder_of(tmp_path, row), tmp_path / "TABLE.md")
    figures = [each.figure for each in read_rows(tmp_path / "TABLE.md") if each.what == WHAT]
    assert figures[0] == PENDING and ("does not run (no)" in figures[1] or "WRONG: error 9.0e-01" in figures[1])


def test_what_was_swept_is_for_those_who_choose(tmp_path):
    folder = folder_of(tmp_path)
    name = "mezzotint forward bfloat16 d64 64x64, 128 threads #1"
    read_record(folder).add("sweep-attention", Row(item=name, measured=measured(name)))
    assert record_results(folder, tmp_path / "TABLE.md", tmp_path / "swept.cpp") == 0
    assert "{90, Kind::forward, 64, false, 512, 4096, 64, 64, 128}" in (tmp_path / "swept.cpp").read_text("utf-8")


def test_a_stub_is_refused(tmp_path, capsys):
    device = Device(name=STUB, capability=None, torch="2.11", cuda=None)
    folder = folder_of(tmp_path, Row(item=WHAT, measured=measured()), device=device)
    with pytest.raises(BuildError, match="are of a stub: only those of a card are recorded"):
        record_results(folder, tmp_path / "TABLE.md")
    assert not (tmp_path / "TABLE.md").exists()
    assert main(["record", str(folder)]) == 2 and "of a stub" in capsys.readouterr().err
