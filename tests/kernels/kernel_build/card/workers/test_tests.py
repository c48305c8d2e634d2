"""Tests as rows: each as it ends, by pytest as it is on a card's machine."""

import json
import os
import subprocess
import sys

import pytest

from kernel_build.card.protocol import Row, told

BODY = """
import pytest

@pytest.mark.gpu
def test_well(): pass

@pytest.mark.gpu
def test_wrong(): assert 1 == 2, "no"

@pytest.mark.gpu
def test_skipped(): pytest.skip("needs 14 GB")

def test_without_a_card(): assert 0
"""
PROGRAM = """
import sys
from pathlib import Path
from kernel_build.card import worker
from kernel_build.card.workers import tests
tests.ROOT = Path(sys.argv[1])
worker.card_is_lost = lambda: False  # without reading torch
raise SystemExit(worker.main(["tests", "tests/kernels/csrc/test_it.py", *sys.argv[2:]]))
"""


@pytest.fixture
def run(tmp_path, root):
    folder = tmp_path / "tests/kernels/csrc"
    folder.mkdir(parents=True)

    def call(*words, body=BODY, done=()):
        (folder / "test_it.py").write_text(body)
        environment = {**os.environ, "PYTHONPATH": f"{root}/kernels", "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), *words]
        given = json.dumps([f"kernels/csrc/test_it.py::{name}" for name in done])
        ended = subprocess.run(command, input=given, env=environment, capture_output=True, text=True, timeout=120)
        rows = [row for row in map(told, ended.stdout.splitlines()) if isinstance(row, Row)]
        return ended.returncode, {row.item.rpartition("::")[2]: row for row in rows}

    return call


def test_each_test_that_needs_a_card_is_a_row(run):
    status, rows = run("--stub", done=["test_well"])
    assert status == 0
    assert {name: row.outcome for name, row in rows.items()} == {"test_wrong": "skipped", "test_skipped": "skipped"}
    assert rows["test_wrong"].problem == "there is no card"


def test_what_fails_says_why(run):
    status, rows = run()
    assert status == 0
    assert {name: row.outcome for name, row in rows.items()} == {
        "test_well": "ok",
        "test_wrong": "failed",
        "test_skipped": "skipped",
    }
    assert rows["test_wrong"].problem == "call: AssertionError: no" and rows["test_skipped"].problem == "needs 14 GB"
    assert any("assert 1 == 2" in line for line in rows["test_wrong"].measured["said"])


def test_a_file_that_cannot_be_imported_is_a_failure(run):
    status, rows = run("--stub", body="import no_such_module\n")
    (row,) = rows.values()
    assert status != 0 and row.outcome == "failed" and "no_such_module" in row.problem
