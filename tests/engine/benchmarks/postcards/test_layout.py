"""Layouts of drawings: their own is told apart from others of the same scene."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import ImageFilter

from mezzotint.benchmarks.postcards.layout import agreement, follows_layout
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.scoring import layout_cases


@pytest.mark.parametrize("number", [0, 1])
def test_a_blurred_drawing_follows_itself_and_another_of_the_scene_does_not(number):
    case = list(layout_cases(2))[number]
    assert follows_layout(paint(case.scene).filter(ImageFilter.GaussianBlur(0.7)), case.scene)
    assert not follows_layout(paint(replace(case.scene, seed=case.scene.seed ^ 1)), case.scene)


def test_edges_may_be_a_little_off():
    first = np.zeros((64, 64), bool)
    first[:, 20] = True
    assert agreement(first, np.roll(first, 1, axis=1)) == 1
    assert agreement(first, np.roll(first, 2, axis=1)) == 0
    assert agreement(first, first.T) == pytest.approx(3 / 64)
    assert agreement(first, np.zeros_like(first)) == 0
