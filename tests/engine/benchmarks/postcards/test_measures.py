"""Intervals, distances and detail against what can be worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.benchmarks.postcards.measures import (
    NORMAL_95,
    detail,
    frechet_distance,
    symmetric_root,
    wilson_interval,
)


@given(st.integers(1, 10_000), st.data())
def test_the_interval_s_ends_solve_wilson_s_equation(asked, data):
    right = data.draw(st.integers(0, asked))
    share = right / asked
    for end in wilson_interval(right, asked):
        deviation = NORMAL_95 * math.sqrt(end * (1 - end) / asked)
        assert abs(end - share) == pytest.approx(deviation, abs=1e-6)


def test_the_interval_of_a_known_share():
    # 7 of 10: (0.7 + 3.8415/20 -+ 1.96 sqrt(0.021 + 3.8415/400)) / 1.38415
    assert wilson_interval(7, 10) == pytest.approx((0.396779, 0.892209), abs=1e-5)


@given(st.integers(1, 1000))
def test_all_and_none_have_one_end_at_the_share_itself(asked):
    low, high = wilson_interval(asked, asked)
    assert high == 1 > low == pytest.approx(asked / (asked + NORMAL_95**2))
    assert wilson_interval(0, asked) == pytest.approx((0, 1 - low))


def normals(seed, count, width):
    return np.random.default_rng(seed).normal(size=(count, width))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(-5, 5))
def test_a_shift_is_as_far_as_it_goes(seed, width, along):
    features = normals(seed, 40, width)
    assert frechet_distance(features, features + along) == pytest.approx(width * along**2, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0.1, 4))
def test_a_stretch_costs_the_square_of_what_the_deviations_differ_by(seed, width, scale):
    centred = normals(seed, 40, width)
    centred -= centred.mean(axis=0)
    variance = centred.var(axis=0, ddof=1).sum()
    assert frechet_distance(centred, scale * centred) == pytest.approx((1 - scale) ** 2 * variance, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_order_of_the_sets_and_a_turn_of_both_change_nothing(seed, width):
    first, second = normals(seed, 30, width), normals(seed + 1, 50, width) * np.arange(1, width + 1)
    there = frechet_distance(first, second)
    turn, _ = np.linalg.qr(normals(seed + 2, width, width))
    assert frechet_distance(second, first) == pytest.approx(there)
    assert frechet_distance(first @ turn, second @ turn) == pytest.approx(there)


def test_diagonal_covariances_have_a_closed_form():
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])  # covariance 4/3 of the unit
    distance = frechet_distance(corners * [1, 2], corners * [3, 5] + [2, 0])
    assert distance == pytest.approx(4 + 4 / 3 * ((3 - 1) ** 2 + (5 - 2) ** 2))


def test_fewer_images_than_features_still_have_a_distance():
    assert frechet_distance(normals(1, 5, 64), normals(1, 5, 64)) == pytest.approx(0, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_the_root_squared_is_the_matrix(seed, width):
    half = normals(seed, width, width)
    root = symmetric_root(half @ half.T)
    assert root == pytest.approx(root.T)
    assert root @ root == pytest.approx(half @ half.T, abs=1e-8)


def test_the_detail_of_a_flat_image_a_slope_and_one_dot():
    slope = Image.fromarray(np.tile(np.arange(0, 64, dtype=np.uint8), (64, 1))).convert("RGB")
    dot = Image.new("RGB", (12, 12))
    dot.putpixel((6, 6), (10, 10, 10))
    assert detail(Image.new("RGB", (8, 8), "red")) == 0
    assert detail(slope) == 0
    assert detail(dot) == pytest.approx((4 * 10 + 4 * 10) / 100)
