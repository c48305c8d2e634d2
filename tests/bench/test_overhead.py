"""The overhead script compares like with like, and says so when it does not."""

import dataclasses
import sys

import pytest


@pytest.fixture
def run(script, monkeypatch, capsys):
    """Run the script on a model; give its exit code and its words."""

    def start(model, *words):
        monkeypatch.setattr(sys, "argv", ["overhead.py", str(model), *words])
        return script.main(), capsys.readouterr().out

    return start


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("folder", ["tiny_pixart_folder", "tiny_sdxl_folder"])
def test_both_make_the_same_image(run, request, folder):
    code, words = run(request.getfixturevalue(folder), "--pairs", "2", "--steps", "2", "--size", "64x64")
    assert code == 0
    assert "64x64, 2 steps, 2 pairs" in words
    assert "bit for bit" in words


def test_unlike_images_are_told(script, run, monkeypatch, tiny_pixart_folder):
    measured = script.Measured(core=1.0, whole=2.0, pixels="a")
    monkeypatch.setattr(script, "with_engine", lambda *arguments: lambda: measured)
    monkeypatch.setattr(script, "with_diffusers", lambda *arguments: lambda: dataclasses.replace(measured, pixels="b"))
    code, words = run(tiny_pixart_folder, "--pairs", "1")
    assert code == 1
    assert "unlike work" in words


def test_a_single_file_is_nothing_for_the_bare_pipeline(run, tiny_single_file):
    code, words = run(tiny_single_file)
    assert code == 2
    assert "not a diffusers folder" in words


def test_an_unknown_model_is_told(run, tmp_path):
    code, words = run(tmp_path / "nothing-here")
    assert code == 2
    assert "nothing-here" in words


def test_the_order_changes_and_the_sides_do_not(script):
    order = []
    ours, bare = (lambda name=name: order.append(name) or name for name in ("ours", "bare"))
    assert script._pair(ours, bare, swapped=False) == script._pair(ours, bare, swapped=True) == ("ours", "bare")
    assert order == ["ours", "bare", "bare", "ours"]
