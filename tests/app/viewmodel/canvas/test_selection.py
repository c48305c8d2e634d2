"""What is selected limits every tool that paints, and is undone as everything else."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QPainterPath

from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.selection import combined
from mezzotint_app.viewmodel.canvas.tiles import opaque_rect
from mezzotint_app.viewmodel.canvas.tools import CanvasTools

ALL = QRect(0, 0, 300, 100)


def box(*sides):
    path = QPainterPath()
    path.addRect(QRectF(*sides))
    return path


@pytest.fixture
def tools(qapp):
    made = CanvasTools(CanvasDocument())
    made.set_colour(QColor("red"))
    return made


def use(tools, tool, start, end, **how):
    tools.set_tool(tool)
    tools.press(QPointF(*start), **how)
    tools.move(QPointF(*end))
    tools.release()


def painted(tools):
    return tools._document.flattened(ALL)


def alpha(tools, *places):
    image = painted(tools)
    return [image.pixelColor(*place).alpha() for place in places]


@pytest.mark.parametrize("tool", ["brush", "rectangle", "fill"])
def test_nothing_is_painted_outside(tools, tool):
    document = tools._document
    document.change_layer(document.active().id, x=7, y=3)
    use(tools, "select", (10, 10), (280, 60))
    use(tools, tool, (20, 30), (299, 90))
    found = opaque_rect(painted(tools))
    assert not found.isEmpty() and QRect(10, 10, 270, 50).contains(found)
    document.undo()
    assert document.is_empty() and document.selection() is not None
    document.undo()
    assert document.selection() is None


def test_erasing_stays_inside_and_what_is_selected_can_be_erased(tools):
    use(tools, "rectangle", (0, 0), (300, 100))
    use(tools, "select", (100, 0), (200, 100))
    use(tools, "eraser", (50, 50), (299, 50))
    assert alpha(tools, (60, 50), (150, 50), (250, 50)) == [255, 0, 255]
    assert tools._document.erase_selection()
    assert alpha(tools, (99, 5), (150, 5), (200, 5)) == [255, 0, 255]


def test_selections_grow_shrink_and_are_inverted(tools):
    document = tools._document
    use(tools, "select", (0, 0), (100, 100))
    use(tools, "select", (200, 0), (300, 100), add=True)
    use(tools, "select", (50, 0), (250, 50), erase=True)
    found = document.selection()
    assert [found.contains(QPointF(*place)) for place in ((20, 20), (70, 20), (70, 70), (150, 70), (270, 20))] == [
        True, False, True, False, True,
    ]  # fmt: skip
    document.select_rest()
    assert document.selection().contains(QPointF(150, 70)) and not document.selection().contains(QPointF(20, 20))
    use(tools, "select", (5, 5), (5, 5))
    assert document.selection() is None and not document.erase_selection()


def test_a_free_shape_is_selected_on_a_hidden_layer_too(tools):
    document = tools._document
    document.change_layer(document.active().id, visible=False)
    tools.set_tool("select_lasso")
    tools.press(QPointF(0, 0))
    for at in ((100, 0), (100, 100)):
        tools.move(QPointF(*at))
    tools.release()
    assert document.selection().contains(QPointF(90, 40)) and not document.selection().contains(QPointF(20, 80))


def test_shapes_are_combined():
    assert combined(None, box(0, 0, 5, 5), "subtract") is None
    assert combined(box(0, 0, 5, 5), box(0, 0, 9, 9), "subtract") is None
    assert combined(box(0, 0, 5, 5), box(5, 0, 5, 5), "add").boundingRect() == QRectF(0, 0, 10, 5)
    assert combined(box(0, 0, 5, 5), box(7, 7, 1, 1), "replace").boundingRect() == QRectF(7, 7, 1, 1)


@pytest.mark.parametrize(
    ("start", "end", "result"),
    [
        ((100, 60), (200, 60), QRect(0, 0, 200, 120)),
        ((100, 30), (150, 0), QRect(0, 0, 150, 60)),
        ((0, 30), (-50, 99), QRect(-50, 0, 150, 60)),
        ((0, 0), (50, 30), QRect(50, 30, 50, 30)),
        ((50, 0), (0, -60), QRect(0, -60, 100, 120)),
        ((100, 60), (-500, -500), QRect(0, 0, 2, 1)),
    ],
)
def test_a_layer_is_scaled_by_its_handles(tools, start, end, result):
    document = tools._document
    use(tools, "rectangle", (0, 0), (100, 60))
    layer = document.active().id
    document.change_layer(layer, x=9, y=-4)
    use(tools, "move", (start[0] + 9, start[1] - 4), (end[0] + 9, end[1] - 4))
    assert document.content_of(layer) == result.translated(9, -4)
    document.undo()
    assert document.content_of(layer) == QRect(9, -4, 100, 60)


def test_handles_are_shown_where_they_can_be_dragged(tools):
    use(tools, "rectangle", (0, 0), (100, 60))
    assert tools.handles().isEmpty()
    tools.set_tool("move")
    assert tools.handles() == QRect(0, 0, 100, 60)
    tools.press(QPointF(100, 30))
    tools.move(QPointF(130, 30))
    assert tools.handles() == QRect(0, 0, 130, 60) == tools.outline().boundingRect().toRect()
    tools.cancel()
    assert tools.handles() == QRect(0, 0, 100, 60)
    tools.set_tool("frame")
    assert tools.handles() == tools._document.frame()
    assert tools._document.colour_at(QPoint(50, 30)) == QColor("red")
