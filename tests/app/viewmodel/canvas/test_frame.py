"""The frame's position and size are multiples of the step, whatever is dragged."""

from hypothesis import given
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QPoint, QPointF, QRect  # noqa: E402

from mezzotint_app.viewmodel.canvas.frame import LARGEST, around, dragged, edges_at  # noqa: E402

FRAME = QRect(64, -32, 512, 256)
edges = st.sampled_from([frozenset(one) for one in ((), ("left",), ("right", "top"), ("bottom",), ("left", "bottom"))])
far = st.integers(-20_000, 20_000)


@given(edges, far, far, st.sampled_from([8, 16]))
def test_sizes_are_valid_and_the_opposite_edges_stay(held, x, y, step):
    found = dragged(FRAME, held, QPoint(x, y), step)
    for side in (found.width(), found.height()):
        assert side % step == 0 and 64 <= side <= LARGEST
    if "left" in held:
        assert found.right() == FRAME.right()
    if "top" in held:
        assert found.bottom() == FRAME.bottom()
    if not held:
        assert found.size() == FRAME.size() and found.x() % step == 0 == found.y() % step


def test_edges_are_found_near_them_only():
    assert edges_at(FRAME, QPointF(64, -30), 8) == {"left", "top"}
    assert edges_at(FRAME, QPointF(580, 100), 8) == {"right"}
    assert edges_at(FRAME, QPointF(300, 100), 8) == edges_at(FRAME, QPointF(30, 100), 8) == frozenset()
    assert around(QRect(-3, 5, 100, 30), 8) == QRect(-3, 5, 104, 64)
