"""Images beside those that they should be."""

import numpy as np
import pytest
from PIL import Image

from mezzotint.benchmarks.postcards.fidelity import Comparison, paired, psnr
from mezzotint.benchmarks.postcards.judge import bundled_judge, load_judge
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.scoring import eval_cases


def test_decibels():
    black, grey = (Image.new("RGB", (8, 8), (value,) * 3) for value in (0, 51))
    assert psnr(black, black) == 99
    assert psnr(black, grey) == pytest.approx(20 * np.log10(5))


def test_the_same_images_lose_nothing():
    comparison = Comparison(load_judge(bundled_judge()))
    for case in eval_cases(3):
        image = paint(case.scene, 128)
        comparison.add(case, image, image)
    found = comparison.result()
    assert (found.psnr, found.features, found.images) == (99, 0, 3)
    assert (found.accuracy.low, found.accuracy.difference, found.accuracy.high) == (0, 0, 0)


def test_images_of_nothing_lose_all():
    comparison = Comparison(load_judge(bundled_judge()))
    for case in eval_cases(6):
        comparison.add(case, paint(case.scene, 128), Image.new("RGB", (128, 128)))
    found = comparison.result()
    assert found.psnr < 20
    assert found.features > 0.3
    assert found.accuracy.high < 0
    assert found.attributes["kind"].difference < -0.5


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    gains = rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.7, 0.1], size=(400, 200))
    intervals = [paired(each) for each in gains]
    held = np.mean([one.low <= -0.1 <= one.high for one in intervals])
    assert 0.91 < held < 0.98
