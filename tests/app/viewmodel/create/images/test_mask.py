"""Strokes change what they touch and nothing else; undo and redo restore every bit, within a bound of memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QRect  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402

from mezzotint_app.viewmodel.create.images.mask import MaskDocument, mask_size  # noqa: E402
from mezzotint_app.viewmodel.create.images.mask_stroke import LARGEST, Brush  # noqa: E402

WIDTH, HEIGHT = 301, 203

places = st.tuples(st.floats(-400, 700), st.floats(-400, 700))
brushes = st.builds(Brush, size=st.floats(1, 200), hardness=st.floats(0, 1), erase=st.booleans())
strokes = st.tuples(st.just("stroke"), brushes, st.lists(places, min_size=1, max_size=5))
whole = st.sampled_from([("clear",), ("fill",), ("invert",)])


def bits(document):
    image = document.image()
    rows = bytes(image.constBits())
    stride = image.bytesPerLine()
    return b"".join(rows[row * stride : row * stride + image.width()] for row in range(image.height()))


def do(document, action):
    if action[0] != "stroke":
        getattr(document, action[0])()
        return
    _, brush, way = action
    document.begin(brush, *way[0])
    for place in way[1:]:
        document.continue_stroke(*place)
    document.end()


@given(st.lists(st.one_of(strokes, whole), max_size=8))
def test_undo_and_redo_restore_every_bit(actions):
    document = MaskDocument(WIDTH, HEIGHT)
    seen = [bits(document)]
    for action in actions:
        steps = len(document._undo)
        do(document, action)
        if len(document._undo) > steps:
            seen.append(bits(document))
        else:
            assert bits(document) == seen[-1], "what cannot be undone has changed nothing"
    for before in reversed(seen[:-1]):
        document.undo()
        assert bits(document) == before
    assert not document.can_undo()
    for after in seen[1:]:
        document.redo()
        assert bits(document) == after
    assert not document.can_redo()


@given(strokes, st.sampled_from(["clear", "fill"]))
def test_a_stroke_changes_only_what_it_tells(stroke, ground):
    document = MaskDocument(WIDTH, HEIGHT)
    getattr(document, ground)()
    before = document.image()
    told = []
    document.changed.connect(told.append)
    do(document, stroke)
    after = document.image()
    for y in range(HEIGHT):
        for x in range(0, WIDTH, 3):
            if before.pixel(x, y) != after.pixel(x, y):
                assert any(where.contains(x, y) for where in told)


@given(brushes, places, places)
def test_a_stroke_stays_within_the_brush(brush, start, end):
    document = MaskDocument(WIDTH, HEIGHT)
    told = []
    document.changed.connect(told.append)
    do(document, ("stroke", brush, [start, end]))
    reach = brush.radius() + 2
    left, right = sorted((start[0], end[0]))
    top, bottom = sorted((start[1], end[1]))
    for where in told:
        assert where.left() >= left - reach - 1
        assert where.top() >= top - reach - 1
        assert where.right() <= right + reach + 1
        assert where.bottom() <= bottom + reach + 1


def test_the_brush_paints_its_middle_and_the_eraser_takes_it_away():
    document = MaskDocument(100, 100)
    do(document, ("stroke", Brush(size=20, hardness=1), [(50, 50), (80, 50)]))
    grey = [document.image().pixelColor(x, 50).red() for x in (30, 45, 50, 65, 80, 95)]
    assert grey == [0, 255, 255, 255, 255, 0]
    do(document, ("stroke", Brush(size=20, hardness=1, erase=True), [(50, 50)]))
    assert [document.image().pixelColor(x, 50).red() for x in (50, 65, 80)] == [0, 255, 255]


def test_a_soft_brush_fades_to_its_edge():
    document = MaskDocument(100, 100)
    do(document, ("stroke", Brush(size=80, hardness=0), [(50, 50)]))
    grey = [document.image().pixelColor(x, 50).red() for x in range(50, 91)]
    assert grey == sorted(grey, reverse=True)
    assert grey[0] > 240
    assert 100 < grey[20] < 150
    assert grey[-1] == 0


def test_going_over_a_soft_edge_again_does_not_harden_it():
    document = MaskDocument(100, 100)
    stroke = ("stroke", Brush(size=60, hardness=0.2), [(30, 50), (70, 50)])
    do(document, stroke)
    once = bits(document)
    do(document, stroke)
    assert bits(document) == once


@pytest.mark.parametrize("far", [1e9, -1e9, 3e5])
def test_a_stroke_from_far_away_is_bounded(far):
    document = MaskDocument(100, 100)
    document.begin(Brush(size=10, hardness=1), far, 50)
    document.continue_stroke(50, 50)
    document.end()
    assert document.image().pixelColor(50, 50).red() == 255


def test_a_brush_is_no_larger_than_it_may_be():
    assert Brush(size=1e12).radius() == LARGEST / 2
    assert 0 <= Brush(size=0, hardness=5).core() < 1


def test_memory_for_undo_is_bounded_and_the_last_step_stays():
    document = MaskDocument(512, 512, most_bytes=100_000)
    for at in range(0, 512, 16):
        do(document, ("stroke", Brush(size=300, hardness=1), [(at, at)]))
        assert document.can_undo()
        assert document.history_bytes() <= 100_000 or len(document._undo) == 1
    before = bits(document)
    document.fill()  # larger than the bound by itself
    document.undo()
    assert bits(document) == before


def test_a_new_step_ends_what_could_be_redone():
    document = MaskDocument(50, 50)
    document.fill()
    document.undo()
    assert document.can_redo()
    document.invert()
    assert not document.can_redo()


def test_undo_in_the_middle_of_a_stroke_takes_the_stroke_back():
    document = MaskDocument(100, 100)
    document.begin(Brush(size=10), 50, 50)
    document.continue_stroke(90, 90)
    document.undo()
    assert not document.is_painting()
    assert set(bits(document)) == {0}


def test_another_mask_is_scaled_and_begins_anew():
    document = MaskDocument(100, 80)
    document.fill()
    other = QImage(50, 40, QImage.Format.Format_RGB32)
    other.fill(0xFF000000)
    document.load(other)
    assert document.rect() == QRect(0, 0, 100, 80)
    assert set(bits(document)) == {0}
    assert not document.can_undo()


def test_an_image_that_was_handed_out_does_not_change():
    document = MaskDocument(64, 64)
    held = document.image()
    document.invert()
    assert held.pixelColor(5, 5).red() == 0
    assert document.image().pixelColor(5, 5).red() == 255


@given(st.integers(1, 60_000), st.integers(1, 60_000))
def test_the_mask_of_a_large_image_has_its_shape(width, height):
    found = mask_size(width, height)
    assert min(found) >= 1
    assert max(found) <= 4096
    scale = min(found[0] / width, found[1] / height)
    # what the engine takes for the same shape
    assert abs(found[0] - width * scale) <= 1
    assert abs(found[1] - height * scale) <= 1
