"""The card that is here, and the name of what is measured on it."""

import sys

import pytest

from kernel_build.card import machine
from kernel_build.card.machine import (
    STUB,
    architecture_for,
    built_library,
    environment_with,
    find_commit,
    find_device,
    run_python,
    sources_digest,
)
from kernel_build.errors import BuildError

H200 = '{"name": "NVIDIA H200", "capability": [9, 0], "multiprocessors": 132, "torch": "2.11.0", "cuda": "13.0"}'
NONE = '{"name": null, "torch": "2.11.0", "cuda": null}'


@pytest.fixture
def said(monkeypatch):
    def say(text):
        monkeypatch.setattr(machine, "run_python", lambda words, seconds: text)

    return say


def test_a_card_is_what_torch_says(said):
    said(H200)
    device = find_device(False, 60)
    assert (device.name, device.capability, device.torch, device.is_stub) == ("NVIDIA H200", (9, 0), "2.11.0", False)
    assert device.multiprocessors == 132


def test_without_a_card_there_is_only_the_stub(said):
    said(NONE)
    with pytest.raises(BuildError, match="torch sees no CUDA device here"):
        find_device(False, 60)
    assert find_device(True, 60).is_stub


def test_a_stub_is_one_where_there_is_a_card_too(said):
    said(H200)
    device = find_device(True, 60)
    assert (device.name, device.capability) == (STUB, None)


@pytest.mark.parametrize(
    ("capability", "name"), [((9, 0), "90a-real"), ((8, 9), "89-real"), ((12, 0), "120-real"), ((10, 3), "103-real")]
)
def test_a_card_is_built_for_as_we_build_for_it(capability, name):
    assert architecture_for(capability) == name


def test_a_card_that_cannot_be_asked_in_time_is_told():
    with pytest.raises(BuildError, match="did not import torch within 0 seconds"):
        run_python(["-c", "import time; time.sleep(600)"], 0.2)


def test_a_program_that_fails_is_told_in_its_last_line():
    assert run_python(["-c", "print(1)"], 60) == "1\n"
    with pytest.raises(BuildError, match="cannot be used: ModuleNotFoundError: No module named 'no_such_module'"):
        run_python(["-c", "import no_such_module"], 60)


def test_a_commit_is_git_s_or_what_was_said_or_a_digest_of_the_sources(tmp_path):
    assert find_commit({"COMMIT": "said"})
    assert find_commit({"COMMIT": "said"}, tmp_path) == "said"
    assert find_commit({"COMMIT": "said-dirty"}, tmp_path).startswith("said-dirty sources ")
    assert find_commit({}, tmp_path) == f"sources {sources_digest(tmp_path)}"


def test_other_sources_have_another_name(tmp_path):
    before = sources_digest(tmp_path)
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine/a.py").write_text("x = 1\n")
    first = sources_digest(tmp_path)
    (tmp_path / "engine/a.py").write_text("x = 2\n")
    assert len({before, first, sources_digest(tmp_path)}) == 3


def test_parts_find_the_engine_and_the_library(tmp_path):
    with pytest.raises(BuildError, match="no library was built"):
        built_library(tmp_path)
    (tmp_path / "libmezzotint_kernels.so").touch()
    environment = environment_with(built_library(tmp_path))
    assert environment["MEZZOTINT_KERNELS_LIBRARY"] == str(tmp_path / "libmezzotint_kernels.so")
    words = [sys.executable, "-P", "-c", "import mezzotint, mezzotint_kernels, kernel_build, patience"]
    assert machine.subprocess.run(words, env=environment, check=False).returncode == 0
