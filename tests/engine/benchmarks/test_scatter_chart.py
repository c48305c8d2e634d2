"""Points with names, drawn."""

import numpy as np
import pytest
from PIL import Image

from mezzotint.benchmarks.scatter_chart import Point, ScatterChart, draw_scatter


def drawn(tmp_path, *points):
    path = tmp_path / "chart.png"
    draw_scatter(ScatterChart(title="Loss", x_name="size", y_name="distance", points=points), path)
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


def reddest(image):
    """The middle of what has the colour of the first group, its name in the corner left out."""
    near = np.abs(image - (0x8C, 0x3B, 0x2E)).sum(axis=2) < 12
    near[:40] = False
    rows, columns = np.nonzero(near)
    return rows.mean(), columns.min()


def test_a_larger_loss_stands_higher_and_a_larger_size_further_right(tmp_path):
    corner = Point(group="b", label="", x=100, y=10)
    low = reddest(drawn(tmp_path, Point(group="a", label="", x=20, y=2), corner))
    high = reddest(drawn(tmp_path, Point(group="a", label="", x=80, y=8), corner))
    assert high[0] < low[0] - 100
    assert high[1] > low[1] + 200


@pytest.mark.parametrize("points", [(), (Point(group="a", label="x", x=0, y=0),)])
def test_nothing_to_scale_by(tmp_path, points):
    assert drawn(tmp_path, *points).shape == (560, 920, 3)


def test_a_diagonal_has_both_axes_end_at_the_same_value(tmp_path):
    points = [Point(group="a", label="", x=50, y=50), Point(group="b", label="", x=100, y=20)]
    plain, path = drawn(tmp_path, *points), tmp_path / "diagonal.png"
    draw_scatter(ScatterChart(title="Loss", x_name="x", y_name="y", points=points, diagonal=True), path)
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    row, column = reddest(image)
    assert row > reddest(plain)[0] + 100  # 50 of 100, no longer of 50
    dark = np.abs(image - (0x26, 0x22, 0x1D)).sum(axis=2) < 12
    assert dark[round(row) + 20, round(column) - 60 : round(column)].any()  # the line, a little before the point
