"""The measure of whole batches: a pair of small ones, and what is compared."""

import argparse

import pytest
from PIL import Image


@pytest.mark.slow
def test_a_small_batch_each_way(script, tmp_path, tiny_sdxl_folder):
    options = argparse.Namespace(
        tasks=4, model=str(tiny_sdxl_folder), threads=1, more=["--size", "64x64", "--steps", "2", "--device", "cpu"]
    )
    (tmp_path / "prompts.txt").write_text(script.prompts(4))
    for name, together in (("alone", 1), ("together", 4)):
        timed = script.measure(tmp_path / name, together, options)
        assert timed.seconds > 0 and timed.per_second > 0
        assert len(list((tmp_path / name).glob("*.png"))) == 4
    assert script.apart(tmp_path / "alone", tmp_path / "together") <= script.MOST_APART


def test_how_far_images_are_apart(script, tmp_path):
    for name, colour in (("a", (1, 2, 3)), ("b", (1, 9, 2))):
        (tmp_path / name).mkdir()
        Image.new("RGB", (4, 4), colour).save(tmp_path / name / "x.png")
    assert script.apart(tmp_path / "a", tmp_path / "b") == 7
    (tmp_path / "b" / "x.png").rename(tmp_path / "b" / "y.png")
    with pytest.raises(RuntimeError, match="other images"):
        script.apart(tmp_path / "a", tmp_path / "b")


def test_no_two_prompts_are_alike(script):
    lines = script.prompts(500).splitlines()
    assert len(lines) == len(set(lines)) == 500
