"""Whatever is done to a canvas, undo restores every bit and redo repeats it, within bounds of steps and memory."""

from hypothesis import given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QPoint, QRect, QRectF  # noqa: E402
from PySide6.QtGui import QColor, QImage, QPainterPath  # noqa: E402

from mezzotint_app.viewmodel.canvas.brush import Brush  # noqa: E402
from mezzotint_app.viewmodel.canvas.document import MOST_LAYERS, CanvasDocument  # noqa: E402
from mezzotint_app.viewmodel.canvas.history import MOST_STEPS  # noqa: E402
from mezzotint_app.viewmodel.canvas.layers import KINDS  # noqa: E402
from mezzotint_app.viewmodel.canvas.strokes import Dab, Paint  # noqa: E402

RED, BLUE = QColor(255, 0, 0), QColor(0, 0, 255, 128)
places = st.tuples(st.integers(-400, 400), st.integers(-400, 400))
actions = st.one_of(
    st.tuples(st.just("stroke"), st.floats(2, 120), st.booleans(), st.lists(places, min_size=1, max_size=3)),
    st.tuples(st.just("shape"), places, st.integers(1, 300), st.booleans()),
    st.tuples(st.just("add"), st.sampled_from(KINDS)),
    st.tuples(st.just("move"), places),
    st.tuples(st.just("scale"), st.floats(0.3, 2)),
    st.tuples(st.just("opacity"), st.floats(0, 1)),
    st.tuples(st.sampled_from(["remove", "clear", "raise", "hide", "bottom"])),
    st.tuples(st.just("frame"), places),
)


def square(side, colour=RED):
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(colour)
    return image


def shape(left, top, side):
    path = QPainterPath()
    path.addRect(QRectF(left, top, side, side))
    return path


def stroke(document, brush, way, colour=BLUE, pressure=1.0):
    begun = document.begin_stroke(Paint(brush=brush, colour=colour, opacity=0.7), Dab(way[0][0], way[0][1], pressure))
    for place in way[1:]:
        document.stroke_to(Dab(place[0], place[1], pressure))
    document.end_stroke()
    return begun


def do(document, name, *words):
    layer = document.active()
    acts = {
        "stroke": lambda size, erase, way: stroke(document, Brush(size=size, erase=erase), way),
        "shape": lambda at, side, erase: document.fill_path(shape(at[0], at[1], side), BLUE, erase=erase),
        "add": lambda kind: document.add_layer(kind, "", square(40), (-20, -20)),
        "move": lambda at: document.change_layer(layer.id, x=at[0], y=at[1]),
        "scale": lambda factor: document.scale_layer(layer.id, factor),
        "opacity": lambda opacity: document.change_layer(layer.id, opacity=opacity),
        "remove": lambda: document.remove_layer(layer.id),
        "clear": lambda: document.clear_layer(layer.id),
        "raise": lambda: document.raise_layer(layer.id, 1),
        "hide": lambda: document.change_layer(layer.id, visible=not layer.visible),
        "bottom": lambda: document.set_active(document.layers()[0].id),
        "frame": lambda at: document.set_frame(QRect(*at, 256, 256)),
    }
    acts[name](*words)
    document.end_step()


def content(document):
    """Everything but which layer is active, which is no step of its own."""
    tiles = {
        (layer.id, place): bytes(tile.constBits())
        for layer in document.layers()
        for place, tile in document.store(layer.id).all().items()
    }
    return document.layers(), document.frame(), tiles


@given(st.lists(actions, max_size=6))
@settings(max_examples=15)
def test_undo_and_redo_restore_every_bit(taken):
    document = CanvasDocument()
    seen = [content(document)]
    for action in taken:
        steps = len(document._history._back)
        do(document, *action)
        if len(document._history._back) > steps:
            seen.append(content(document))
        else:
            assert content(document) == seen[-1], "what cannot be undone has changed nothing"
    for before in reversed(seen[:-1]):
        document.undo()
        assert content(document) == before
    assert not document.can_undo()
    for after in seen[1:]:
        document.redo()
        assert content(document) == after
    assert not document.can_redo()


def test_steps_and_memory_are_bounded():
    document = CanvasDocument(most_bytes=20 << 18)  # of twenty tiles
    for number in range(MOST_STEPS + 10):
        do(document, "frame", (number, 0))
    assert len(document._history._back) == MOST_STEPS
    for _ in range(30):
        do(document, "shape", (0, 0), 256, False)
    assert document._history.bytes() <= 20 << 18
    assert 19 <= len(document._history._back) < MOST_STEPS
    for _ in range(MOST_LAYERS):
        document.add_layer("image", "")
    assert len(document.layers()) == MOST_LAYERS
    assert document.add_layer("image", "") == 0


def test_a_drag_is_one_step_and_a_second_drag_another():
    document = CanvasDocument()
    layer = document.active().id
    for x in (5, 9):
        document.change_layer(layer, x=x, y=0)
    document.end_step()
    document.change_layer(layer, x=20, y=0)
    document.undo()
    assert document.active().x == 9
    document.undo()
    assert document.active().x == 0


def test_strokes_stay_where_they_are_painted_and_cross_without_getting_stronger():
    document = CanvasDocument()
    document.change_layer(document.active().id, x=33, y=-70)
    stroke(document, Brush(size=40, hardness=1), [(0, 0), (500, 0), (0, 0)])
    whole = document.flattened(QRect(-100, -100, 800, 200))
    alphas = {whole.pixelColor(x, 100).alpha() for x in range(110, 590)}
    assert len(alphas) == 1 and 80 < alphas.pop() < 100  # 0.7 of 128
    assert whole.pixelColor(40, 100).alpha() == 0 == whole.pixelColor(300, 60).alpha()


def test_pressure_sets_the_size_and_the_eraser_leaves_no_tiles():
    document = CanvasDocument()
    stroke(document, Brush(size=100, hardness=1), [(100, 100)], pressure=0.0)
    assert 8 <= document.store(document.active().id).content().width() <= 12
    stroke(document, Brush(size=300, hardness=1), [(100, 100)], RED)
    stroke(document, Brush(size=1000, hardness=1, erase=True), [(100, 100), (101, 100)], QColor(255, 255, 255))
    document.clear_layer(document.active().id)
    assert document.is_empty()
    document.change_layer(document.active().id, visible=False)
    assert not stroke(document, Brush(), [(0, 0)])


def test_layers_lie_over_each_other_and_masks_show_only_when_asked_for():
    document = CanvasDocument()
    document.add_layer("image", "", square(100))
    document.add_layer("sketch", "", square(50, QColor(0, 255, 0)), (-10, -10))
    document.change_layer(document.active().id, opacity=0.5)
    document.add_layer("mask", "", square(20))
    assert document.flattened(QRect(0, 0, 1, 1)).pixelColor(0, 0).getRgb()[:3] in ((127, 128, 0), (128, 127, 0))
    assert document.flattened(QRect(0, 0, 30, 1), ("mask",)).pixelColor(25, 0).alpha() == 0
    assert document.colour_at(QPoint(80, 80)) == RED
    assert document.colour_at(QPoint(-500, 0)) is None
    assert document.bounds(("mask",)) == QRect(0, 0, 256, 256)


def test_scaling_refuses_what_would_be_too_large():
    document = CanvasDocument()
    assert not document.scale_layer(document.active().id, 2)
    document.fill_path(shape(0, 0, 100), RED)
    assert not document.scale_layer(document.active().id, 1e6)
    assert document.scale_layer(document.active().id, 2)
    assert document.store(document.active().id).content().width() == 200
