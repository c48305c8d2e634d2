"""gpu-check without a card: what is built and run is stood in for, and what is kept and told is real."""

import json

import pytest

from kernel_build.__main__ import main
from kernel_build.card import check as module
from kernel_build.card.check import FAILED, UNFINISHED, Options, absent, gpu_check, without_sanitizer, words_of
from kernel_build.card.machine import Device
from kernel_build.card.parts import PARTS
from kernel_build.card.process import Ending
from kernel_build.card.protocol import Row
from kernel_build.card.record_file import read_record
from kernel_build.errors import BuildError
from kernel_build.targets import TARGETS

CARD = Device(name="Paper Card", capability=(9, 0), torch="2.11", cuda="13.0")
COMPLETE = Ending(state="complete")
SANITIZER, TESTS, MEMORY = PARTS[0], PARTS[2], PARTS[-1]


@pytest.fixture
def steps(monkeypatch, tmp_path):
    """What was done, and what each part is to find: rows, and an ending."""
    done, found = [], {}

    def run(words, environment, folder, limits, seen, take):
        name = next(part.name for part in PARTS if words_of(part, False)[-len(words) :] == words)
        done.append((name, sorted(seen)))
        rows, ending = found.get(name, ([Row(item="all")], COMPLETE))
        for row in rows:
            if row.item not in seen:
                take(row)
        return ending

    (tmp_path / "libmezzotint_kernels.so").touch()
    monkeypatch.setattr(module, "find_device", lambda stub, seconds: CARD)
    monkeypatch.setattr(module, "find_commit", lambda: "abc")
    monkeypatch.setattr(module, "find_toolchain", lambda: "toolchain")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "_sanitizer", lambda: None)
    monkeypatch.setattr(module, "build_library", lambda _, **how: done.append(("build", how["architectures"])))
    monkeypatch.setattr(module, "run_part", run)
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    return done, found


def checked(tmp_path, *parts, **options):
    return gpu_check(Options(parts=parts, results=tmp_path / "results", **options))


def test_it_builds_and_then_does_each_part_in_order(steps, tmp_path, capsys):
    done, _ = steps
    assert checked(tmp_path) == 0
    there = [part.name for part in PARTS if not part.sanitizer and not part.needs]
    assert done == [("build", "90a-real"), *((name, []) for name in there)]
    said = capsys.readouterr().out
    assert "sanitizer-memcheck: not there (compute-sanitizer is not installed), no rows" in said
    assert "jobs-memory: not there (the package diffusers is not installed), no rows" in said
    assert said.splitlines()[-1] == f"0 targets met, 0 targets missed, {len(TARGETS)} targets pending"


def test_a_second_run_goes_on_with_what_is_missing(steps, tmp_path):
    done, found = steps
    found["tests-linear"] = ([Row(item="one")], Ending(state="unfinished", problem="its time was over"))
    assert checked(tmp_path, "tests") == UNFINISHED
    assert "tests-linear" in [name for name, _ in done]
    done.clear()
    found["tests-linear"] = ([Row(item="one"), Row(item="two")], COMPLETE)
    assert checked(tmp_path, "tests") == 0
    assert done == [("build", "90a-real"), ("tests-linear", ["one"])]
    done.clear()
    assert checked(tmp_path, "tests") == 0 and done == []
    assert checked(tmp_path, "tests-linear", again=True) == 0
    assert done == [("build", "90a-real"), ("tests-linear", [])]


def test_time_that_is_over_leaves_parts_for_another_run(steps, tmp_path, capsys):
    done, _ = steps
    assert checked(tmp_path, "tests", seconds=10) == UNFINISHED
    assert [name for name, _ in done] == ["build"]
    assert "UNFINISHED, the same command goes on with it: tests-quantize, tests-linear" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "ending"),
    [
        ([Row(item="one", outcome="failed", problem="no")], COMPLETE),
        ([Row(item="one", outcome="crashed", problem="signal SIGSEGV")], COMPLETE),
        ([Row(item="one", outcome="hung", problem="not over after 90 seconds")], COMPLETE),
        ([], Ending(state="failed", problem="the process ended with status 1")),
    ],
)
def test_what_failed_fails_the_run_and_is_told_but_the_rest_is_done(steps, tmp_path, capsys, rows, ending):
    done, found = steps
    found["tests-linear"] = (rows, ending)
    assert checked(tmp_path, "tests") == FAILED
    assert "tests-engine" in [name for name, _ in done]
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FAILED")]
    assert (rows[0].problem if rows else ending.problem) in line
    assert checked(tmp_path, "tests") == FAILED  # the next run has not forgotten it


def measured(**changes):
    values = {"shape": "SDXL, 64x64", "implementation": "mezzotint flash", "milliseconds": 0.3, "tflops": 501.0}
    sizes = {"batch": 2, "heads": 10, "nq": 4096, "nk": 4096, "head_dim": 64, "dtype": "bfloat16"}
    return values | sizes | {"ratio": None, "peak_bytes": None, "error": 0.001, "problem": None} | changes


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({}, 0, f"1 targets met, 0 targets missed, {len(TARGETS) - 1} targets pending"),
        ({"tflops": 30.0}, FAILED, "MISSED: SDXL, 64x64: mezzotint flash: tflops 30, at least 470 wanted"),
        ({"error": 0.9}, FAILED, "FAILED: SDXL, 64x64: mezzotint flash: error 9.0e-01, and 0.02 is allowed"),
        ({"error": 0.9}, FAILED, f"0 targets met, 0 targets missed, {len(TARGETS)} targets pending"),
    ],
)
def test_targets_are_held_against_what_was_measured(steps, tmp_path, monkeypatch, capsys, changes, status, said):
    _, found = steps
    monkeypatch.setattr(module, "find_device", lambda stub, seconds: Device(**{**vars_of(CARD), "name": "NVIDIA H200"}))
    found["times-attention"] = ([Row(item="SDXL, 64x64: mezzotint flash", measured=measured(**changes))], COMPLETE)
    assert checked(tmp_path, "times-attention") == status
    assert said in capsys.readouterr().out


def vars_of(device):
    return {name: getattr(device, name) for name in ("name", "capability", "torch", "cuda")}


def test_the_command_keeps_results_where_it_is_told(steps, tmp_path, capsys):
    assert main(["gpu-check", "tests-linear", "--results", str(tmp_path / "there")]) == 0
    record = read_record(tmp_path / "there")
    assert record.device == CARD and [row["item"] for row in record.rows] == ["all"]
    assert json.loads(record.path.read_text("utf-8"))["commit"] == "abc"


def test_an_unknown_part_is_told(tmp_path, capsys):
    assert main(["gpu-check", "gemm", "--results", str(tmp_path)]) == 2
    assert "there is no part 'gemm': give sanitizer-memcheck" in capsys.readouterr().err


def test_a_machine_without_a_card_is_told(monkeypatch, tmp_path):
    def none(stub, seconds):
        raise BuildError("torch sees no CUDA device here")

    monkeypatch.setattr(module, "find_device", none)
    with pytest.raises(BuildError, match="no CUDA device"):
        checked(tmp_path)
    assert not (tmp_path / "results").exists()


def test_a_sanitizer_looks_on_where_it_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_sanitizer", lambda: tmp_path / "compute-sanitizer")
    words = words_of(SANITIZER, False)
    assert words[:3] == [str(tmp_path / "compute-sanitizer"), "--tool", "memcheck"]
    assert words[-3:] == ["-m", "kernel_build.card.worker", "small_set"]
    assert absent(SANITIZER, False) is None
    assert words_of(SANITIZER, True)[-2:] == ["small_set", "--stub"] and "--tool" not in words_of(SANITIZER, True)


def test_a_sanitizer_that_does_not_know_the_card_fails_nothing():
    refused = Ending(state="failed", problem="status 1", said=("========= Error: Device not supported", "it ended"))
    found = Ending(state="failed", problem="status 9", said=("========= ERROR SUMMARY: 1 error",))
    assert without_sanitizer(SANITIZER, refused).state == "not there"
    assert without_sanitizer(SANITIZER, found) == found
    assert without_sanitizer(TESTS, refused) == refused


def test_what_a_part_needs_is_asked_for(monkeypatch):
    monkeypatch.setattr(module, "_sanitizer", lambda: None)
    assert absent(SANITIZER, True) is None and "not installed" in absent(SANITIZER, False)
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    assert absent(MEMORY, True) == "the package diffusers is not installed"
    assert absent(TESTS, False) is None


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_stub_goes_through_all_parts_and_is_no_card(tmp_path, capsys):
    folder = tmp_path / "results"
    assert main(["gpu-check", "--stub", "--results", str(folder)]) == 0
    record = read_record(folder)
    assert {name: part["state"] for name, part in record.parts.items()} == {part.name: "complete" for part in PARTS}
    assert {row["device"] for row in record.rows} == {"stub"} and record.device.is_stub
    assert {row["measured"].get("device", "stub") for row in record.rows} == {"stub"}
    assert json.loads((folder / "instances.json").read_text("utf-8"))["device"] == "stub"
    said = capsys.readouterr().out.splitlines()
    assert len(said) <= 60 and said[-1] == f"0 targets met, 0 targets missed, {len(TARGETS)} targets pending"
    assert main(["record", str(folder)]) == 2
