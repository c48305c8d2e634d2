"""Laws from points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.footprints.fitting import TOLERANCE, Point, fit, worst_error
from mezzotint.memory.footprints.footprint import ScalingLaw

SIZES = (4096, 9216, 16384)
factors = st.floats(0, 1e6)
laws = st.builds(
    ScalingLaw,
    constant=st.floats(1, 1e9),
    per_item=st.floats(0, 1e9),
    per_position=factors,
    per_position_squared=st.floats(0, 1e3),
)


def points_of(law, batches=(1, 2)):
    return [Point(positions=n, batch=b, value=law.at(n, b)) for n in SIZES for b in batches]


@given(laws)
def test_what_a_law_made_gives_a_law_that_says_the_same(law):
    points = points_of(law)
    assert worst_error(fit(points), points) <= 1e-3


def test_the_simplest_law_is_taken():
    law = fit(points_of(ScalingLaw(per_position=98304.0)))
    assert law.per_position == pytest.approx(98304.0)
    assert law.constant == law.per_item == law.per_position_squared == law.once_per_position == 0


def test_what_a_batch_shares_is_told_apart():
    law = fit(points_of(ScalingLaw(per_position=26000.0, once_per_position=2600.0)))
    assert law.once_per_position == pytest.approx(2600.0, rel=1e-3)
    assert law.at(65536, 1) == pytest.approx(65536 * 28600.0)


@given(st.lists(st.floats(1.0, 1e12), min_size=6, max_size=6))
def test_what_no_law_fits_is_never_told_too_low(values):
    shapes = [(n, b) for n in SIZES for b in (1, 2)]
    points = [Point(positions=n, batch=b, value=v) for (n, b), v in zip(shapes, values, strict=True)]
    law = fit(points)
    assert all(law.at(point.positions, point.batch) >= point.value * (1 - TOLERANCE - 1e-9) for point in points)


@given(laws)
def test_more_never_takes_less(law):
    found = fit(points_of(law))
    values = [found.at(n, b) for n in (0, 100, 5000, 70000) for b in (1, 2, 8)]
    assert min(values) >= 0
    assert found.at(5000, 2) <= found.at(5000, 3) <= found.at(6000, 3)


def test_nothing_takes_nothing():
    assert fit([Point(positions=1, batch=1, value=0.0)]) == ScalingLaw()


def test_without_squares_a_law_stays_straight_and_above():
    points = [Point(positions=n, batch=1, value=float(max(600_000, 240_000 + 1160 * n))) for n in (256, 576, 1024)]
    law = fit(points, squared=False)
    assert law.per_position_squared == law.once_per_position_squared == 0
    assert all(1 - TOLERANCE <= law.at(point.positions) / point.value < 1.2 for point in points)
