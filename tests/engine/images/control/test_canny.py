"""Canny's edges, compared with a plain implementation pixel by pixel."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.control.canny import HIGH, LOW, canny


def slow(grey, low, high):
    """Every step as described by Canny, with loops; no blur."""
    height, width = grey.shape

    def at(values, row, column):
        return float(values[min(max(row, 0), height - 1), min(max(column, 0), width - 1)])

    kernel = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))
    strength, across, down = (np.zeros((height, width)) for _ in range(3))
    for row in range(height):
        for column in range(width):
            around = [(i, j, at(grey, row + i, column + j)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            across[row, column] = sum(kernel[i + 1][j + 1] * value for i, j, value in around)
            down[row, column] = sum(kernel[j + 1][i + 1] * value for i, j, value in around)
            strength[row, column] = abs(across[row, column]) + abs(down[row, column])
    kept = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            x, y = across[row, column], down[row, column]
            angle = math.degrees(math.atan2(y, x)) % 180
            step = ((0, 1), (1, 1), (1, 0), (1, -1))[round(angle / 45) % 4]
            inside = [
                strength[r, c] if 0 <= r < height and 0 <= c < width else 0
                for r, c in ((row - step[0], column - step[1]), (row + step[0], column + step[1]))
            ]
            if strength[row, column] > inside[0] and strength[row, column] >= inside[1]:
                kept[row, column] = strength[row, column]
    edges, waiting = np.zeros((height, width), bool), list(zip(*np.nonzero(kept > high), strict=True))
    while waiting:
        row, column = waiting.pop()
        if not edges[row, column]:
            edges[row, column] = True
            waiting += [
                (r, c)
                for r in range(max(0, row - 1), min(height, row + 2))
                for c in range(max(0, column - 1), min(width, column + 2))
                if kept[r, c] > low
            ]
    return np.where(edges, 255, 0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.sampled_from([(50, 300), (100, 200)]))
def test_as_described(seed, height, width, thresholds):
    grey = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    low, high = thresholds
    np.testing.assert_array_equal(canny(grey, sigma=0, low=low, high=high), slow(grey, low, high))


@pytest.mark.parametrize("turned", [False, True])
def test_an_edge_is_one_pixel_wide(turned):
    grey = np.zeros((24, 24), np.uint8)
    grey[:, 12:] = 255
    edges = canny(grey.T if turned else grey)
    lines = edges.T if turned else edges
    assert (lines == 255).sum(axis=1).tolist() == [1] * 24
    assert len(set(lines.argmax(axis=1))) == 1


def test_a_faint_edge_is_kept_only_where_it_continues_a_strong_one():
    grey = np.zeros((40, 20), np.uint8)
    grey[:, 10:] = 36  # below the upper threshold, above the lower one
    faint = canny(grey, sigma=0)
    grey[20:, 10:] = 255
    assert LOW < 36 * 4 < HIGH
    assert not faint.any()
    assert canny(grey, sigma=0)[:20].any(axis=1).all()


def test_a_plain_image_has_none():
    assert not canny(np.full((5, 7), 99, np.uint8)).any()
