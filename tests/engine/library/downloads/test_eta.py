"""How long it will take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library.downloads.eta import EtaEstimator


def paced(points, total=1000):
    clock = iter([at for at, _ in points])
    pace = EtaEstimator(lambda: next(clock))
    return [pace.seconds_left(done, total) for _, done in points]


def test_a_steady_pace():
    assert paced([(0, 0), (1, 10), (2, 20)]) == [None, pytest.approx(99), pytest.approx(98)]


def test_the_last_while_counts():
    points = [(at, 10 * at) for at in range(30)] + [(30 + at, 300 + at) for at in range(60)]
    assert paced(points)[-1] == pytest.approx((1000 - 359) / 1, rel=0.1)


def test_nothing_is_said_without_ground():
    assert paced([(0, 5), (0.5, 6)]) == [None, None]
    assert paced([(0, 5), (5, 5)]) == [None, None]
    assert paced([(0, 5), (5, 10)], total=None) == [None, None]
    assert paced([(0, 500), (5, 100), (5.5, 110)]) == [None, None, None], "begun anew"


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(0, 100)), max_size=30))
def test_never_below_nothing(steps):
    at, done, points = 0.0, 0, []
    for seconds, count in steps:
        at, done = at + seconds, min(1000, done + count)
        points.append((at, done))
    assert all(left is None or left >= 0 for left in paced(points))
