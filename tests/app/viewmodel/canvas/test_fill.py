"""A flood fill reaches what is connected and alike, and nothing else."""

from hypothesis import given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QPoint  # noqa: E402
from PySide6.QtGui import QColor, QImage  # noqa: E402

from mezzotint_app.viewmodel.canvas.fill import flooded  # noqa: E402

SIDE = 9


def naive(grid, x, y):
    like, found, waiting = grid[y][x], set(), [(x, y)]
    while waiting:
        x, y = waiting.pop()
        if 0 <= x < SIDE and 0 <= y < SIDE and (x, y) not in found and abs(grid[y][x] - like) <= 1:
            found.add((x, y))
            waiting += [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    return found


@given(st.lists(st.lists(st.integers(0, 3), min_size=SIDE, max_size=SIDE), min_size=SIDE, max_size=SIDE), st.data())
@settings(max_examples=40)
def test_it_fills_what_a_plain_search_finds(grid, data):
    x, y = data.draw(st.integers(0, SIDE - 1)), data.draw(st.integers(0, SIDE - 1))
    image = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
    for row in range(SIDE):
        for column in range(SIDE):
            image.setPixelColor(column, row, QColor(grid[row][column], 0, 0))
    filled = flooded(image, QPoint(x, y), 1, QColor(0, 0, 255, 128))
    reached = {(c, r) for r in range(SIDE) for c in range(SIDE) if filled.pixelColor(c, r).alpha() == 128}
    assert reached == naive(grid, x, y)
