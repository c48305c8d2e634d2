"""gpu-check without a card: its steps are stood in for, or are small programs."""

import json
import os
import sys

import pytest
from kernel_build.gpu_check import (
    Deadline,
    Rows,
    architecture_for,
    environment_with,
    find_card,
    find_commit,
    gpu_check,
    run_benchmark,
    run_python,
    run_tests,
)
from kernel_build.gpu_parts import PARTS

from kernel_build import gpu_check as module
from kernel_build.__main__ import main
from kernel_build.errors import BuildError
from kernel_build.results import PENDING, TARGETS, Place, read_rows

PLACE = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check PART=kernels")


def measured(implementation="mezzotint flash"):
    """As `mezzotint bench attention --json` prints it."""
    sizes = {"batch": 2, "heads": 10, "nq": 4096, "nk": 4096, "head_dim": 64, "dtype": "bfloat16"}
    figures = {"milliseconds": 0.285, "tflops": 301.4, "ratio": 1.04, "peak_bytes": None, "error": None}
    return {"shape": "SDXL, 64x64", "implementation": implementation, "problem": None} | sizes | figures


@pytest.fixture
def results(tmp_path):
    return tmp_path / "RESULTS.md"


@pytest.fixture
def steps(monkeypatch, tmp_path):
    """Every step stood in for; gives what was done, and what the bench prints."""
    done = []
    said = [json.dumps(measured())]
    monkeypatch.setattr(module, "run_python", lambda words, seconds: '{"name": "Paper Card", "capability": [9, 0]}')
    monkeypatch.setattr(module, "find_toolchain", lambda: "toolchain")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    (tmp_path / "libmezzotint_kernels.so").touch()

    def build(toolchain, *, architectures, folder, seconds):
        done.append(f"build {architectures}")

    def measure(words, environment, seconds, take):
        done.append(" ".join(words))
        return run_benchmark(["-c", f"print({os.linesep.join(said)!r})"], environment, seconds, take)

    monkeypatch.setattr(module, "build_library", build)
    monkeypatch.setattr(module, "run_tests", lambda tests, environment, seconds: [])
    monkeypatch.setattr(module, "run_benchmark", measure)
    return done, said


def test_it_builds_tests_measures_and_writes(steps, results):
    done, _ = steps
    assert gpu_check("kernels", results=results) == []
    assert done == ["build 90a-real", "-m mezzotint.attention.benchmark"]
    row = next(row for row in read_rows(results) if row.figure != PENDING)
    assert (row.gpu, row.command) == ("Paper Card", "make gpu-check PART=kernels")
    assert row.commit


def test_each_part_has_its_tests_and_its_bench(steps, results, monkeypatch):
    done, said = steps
    run = []
    monkeypatch.setattr(module, "run_tests", lambda tests, environment, seconds: run.append(tests) or [])
    sizes = {"rows": 4096, "columns": 640, "outputs": 640, "dtype": "bfloat16"}
    figures = {
        "milliseconds": 0.0123,
        "tops": 272.8,
        "gigabytes": None,
        "ratio": 1.3,
        "with_loras": None,
        "error": None,
    }
    said[:] = [json.dumps({"shape": "SDXL, 4096x640 to 640", "implementation": "mezzotint int8"} | sizes | figures)]
    assert gpu_check("linear", results=results) == []
    assert done[-1] == "-m mezzotint.quantization.benchmark" and run == [PARTS["linear"].tests]
    (row,) = (row for row in read_rows(results) if row.figure != PENDING)
    assert row.command == "make gpu-check PART=linear" and "1.30 times torch linear" in row.figure


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_tests_of_a_part_are_there(part):
    for name in part.tests:
        assert "gpu" in (module.ROOT / name).read_text("utf-8")


def test_failed_tests_do_not_keep_it_from_measuring(steps, results, monkeypatch):
    monkeypatch.setattr(module, "run_tests", lambda tests, environment, seconds: ["tests failed"])
    assert gpu_check("kernels", results=results) == ["tests failed"]
    assert sum(row.figure != PENDING for row in read_rows(results)) == 1


def test_no_row_is_a_failure(steps, results):
    steps[1].clear()
    assert gpu_check("kernels", results=results) == ["the measurements gave no row"]


def test_the_command_tells_what_failed(steps, results, monkeypatch, capsys):
    monkeypatch.setattr(module, "run_tests", lambda tests, environment, seconds: ["tests failed"])
    assert main(["gpu-check", "kernels", "--results", str(results)]) == 1
    assert "gpu-check: tests failed\n" in capsys.readouterr().err


def test_a_machine_without_a_card_is_told(steps, results, monkeypatch, capsys):
    monkeypatch.setattr(module, "run_python", lambda words, seconds: '{"name": null, "capability": null}')
    assert main(["gpu-check", "kernels", "--results", str(results)]) == 2
    assert capsys.readouterr().err == "kernels: torch sees no CUDA device here: gpu-check needs one (see nvidia-smi)\n"
    assert not results.exists()


def test_an_unknown_part_is_told(results):
    with pytest.raises(BuildError, match="PART is 'gemm': give kernels or linear"):
        gpu_check("gemm", results=results)


def rows_of(results):
    return Rows(PARTS["kernels"].new_row_of(), PLACE, results)


def figures(results):
    return [row.figure for row in read_rows(results) if row.figure != PENDING]


def test_rows_are_written_one_by_one(results):
    rows = rows_of(results)
    rows.take("a word of the library\n")
    rows.take(json.dumps(measured()) + "\n")
    assert len(figures(results)) == 1
    rows.take('{"not": "a row"}\n')
    rows.take(json.dumps(measured(implementation="sdpa flash")) + "\n")
    assert (rows.written, rows.failed) == (2, [])
    assert len(read_rows(results)) == len(TARGETS) + 1
    assert read_rows(results)[0].figure.startswith("b2 h10")


def test_what_of_ours_does_not_run_fails_and_leaves_its_target_pending(results):
    rows, broken = rows_of(results), {"milliseconds": None, "problem": "CUDA error"}
    rows.take(json.dumps(measured() | broken))
    rows.take(json.dumps(measured(implementation="sdpa cudnn") | broken))
    assert rows.failed == ["SDXL, 64x64: mezzotint flash: CUDA error"]
    assert [row.figure for row in read_rows(results) if row.what == "SDXL, 64x64: mezzotint flash"] == [
        PENDING,
        "b2 h10 4096x4096 d64 bfloat16: does not run (CUDA error)",
    ]


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("print('first')", []),
        ("print('first')\nimport os\nos._exit(3)", ["the measurements ended with status 3; what they said is above"]),
        ("print('first')\nimport time\ntime.sleep(600)", ["the measurements were not over after 3 seconds"]),
    ],
)
def test_lines_come_as_they_are_printed_and_an_early_end_is_told(code, ending):
    lines = []
    assert run_benchmark(["-c", code], os.environ, 3.0, lines.append) == ending
    assert lines == ["first\n"]


def test_a_card_that_cannot_be_asked_in_time_is_told():
    with pytest.raises(BuildError, match="did not import torch within 0 seconds"):
        run_python(["-c", "import time; time.sleep(600)"], 0.2)


def test_a_program_that_fails_is_told_in_its_last_line():
    assert run_python(["-c", "print(1)"], 60) == "1\n"
    with pytest.raises(BuildError, match="cannot be used: ModuleNotFoundError: No module named 'no_such_module'"):
        run_python(["-c", "import no_such_module"], 60)


def test_tests_that_fail_or_hang_are_told(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "tests/kernels/csrc").mkdir(parents=True)
    tests = ("test_it.py",)
    for body, words in (
        ("pass", []),
        ("assert 0", ["tests failed (pytest's status is 1)"]),
        ("pytest.skip('no library')", ["no test ran"]),
    ):
        (tmp_path / "test_it.py").write_text(f"import pytest\n@pytest.mark.gpu\ndef test_it(): {body}\n")
        assert run_tests(tests, os.environ, 60) == words
    (tmp_path / "test_it.py").write_text("import time\ntime.sleep(600)\n")
    assert run_tests(tests, os.environ, 0.2) == ["the tests took longer than 0 seconds"]


@pytest.mark.parametrize(
    ("capability", "name"), [((9, 0), "90a-real"), ((8, 9), "89-real"), ((12, 0), "120-real"), ((10, 3), "103-real")]
)
def test_a_card_is_built_for_as_we_build_for_it(capability, name):
    assert architecture_for(capability) == name


def test_a_card_is_what_torch_says():
    assert find_card('{"name": "NVIDIA H200", "capability": [9, 0]}') == ("NVIDIA H200", (9, 0))


def test_a_commit_is_git_s_or_what_was_said_or_a_hash_of_the_sources(tmp_path):
    assert find_commit({"COMMIT": "said"})
    assert find_commit({"COMMIT": "said"}, tmp_path) == "said"
    assert find_commit({}, tmp_path).startswith("sources ")
    assert find_commit({}, tmp_path) == find_commit({}, tmp_path)


def test_python_finds_the_engine_and_the_library(tmp_path):
    with pytest.raises(BuildError, match="no library was built"):
        environment_with(tmp_path)
    (tmp_path / "libmezzotint_kernels.so").touch()
    environment = environment_with(tmp_path)
    assert environment["MEZZOTINT_KERNELS_LIBRARY"] == str(tmp_path / "libmezzotint_kernels.so")
    said = module.subprocess.run(
        [sys.executable, "-P", "-c", "import mezzotint, mezzotint_kernels"], env=environment, check=False
    )
    assert said.returncode == 0


def test_time_that_is_over_is_told():
    deadline = Deadline(60)
    assert deadline.left(5) == 5
    assert 50 < deadline.left() <= 60
    with pytest.raises(BuildError, match="the time for gpu-check is over"):
        Deadline(-1).left()
