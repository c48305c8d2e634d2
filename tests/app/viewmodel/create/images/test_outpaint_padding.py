"""Edges are pushed outwards only, in steps, and never so far that the image is too large."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import Inpaint
from mezzotint_app.viewmodel.create.images.outpaint_padding import (
    EDGES,
    LARGEST_AREA,
    LARGEST_SIDE,
    STEP,
    OutpaintPadding,
    outpaint_padding_of,
)

sides = st.integers(0, LARGEST_SIDE)
growths = st.builds(OutpaintPadding, left=sides, top=sides, right=sides, bottom=sides)
images = st.tuples(st.integers(1, 10_000), st.integers(1, 10_000))
some_edges = st.frozensets(st.sampled_from(EDGES))


@given(growths, some_edges, st.floats(-1e5, 1e5), st.floats(-1e5, 1e5), images)
def test_pushing_moves_the_edges_that_are_held_and_no_other(outpaint_padding, edges, across, down, image):
    pushed = outpaint_padding.pushed(edges, across, down, image)
    for edge in EDGES:
        value = getattr(pushed, edge)
        assert 0 <= value <= LARGEST_SIDE
        if edge not in edges:
            assert value == getattr(outpaint_padding, edge)


@given(st.lists(st.tuples(st.sampled_from(EDGES), st.integers(-100, 10_000)), max_size=8), images)
def test_the_grown_image_is_never_too_large(steps, image):
    outpaint_padding = OutpaintPadding()
    for edge, pixels in steps:
        outpaint_padding = outpaint_padding.with_edge(edge, pixels, image)
    width, height = outpaint_padding.size(*image)
    assert width * height <= max(LARGEST_AREA, image[0] * image[1])


def test_edges_snap():
    pushed = OutpaintPadding().pushed(frozenset({"left", "bottom"}), -13, 21, (512, 512))
    assert pushed == OutpaintPadding(left=2 * STEP, bottom=3 * STEP)
    assert pushed.size(512, 512) == (512 + 2 * STEP, 512 + 3 * STEP)


def test_no_growth_is_nothing():
    assert not OutpaintPadding()
    assert OutpaintPadding(top=8)
    assert outpaint_padding_of(None) == OutpaintPadding()


def test_what_a_stranger_asks_for_is_bounded():
    asked = Inpaint(left=-5, top=10**12, right=16, bottom=0)
    assert outpaint_padding_of(asked) == OutpaintPadding(left=0, top=LARGEST_SIDE, right=16)
