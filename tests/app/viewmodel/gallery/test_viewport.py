"""What lies under the pointer stays there while one zooms; no gap opens at an edge."""

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.gallery.viewport import LARGEST, Content, Viewport

sides = st.floats(1, 20_000)
views = st.floats(16, 4_000)


@st.composite
def viewports(draw):
    content = Content(
        left=draw(st.floats(-500, 0)), top=draw(st.floats(-500, 0)), width=draw(sides), height=draw(sides)
    )
    fresh = Viewport(
        content=content, width=draw(views), height=draw(views), pixel_ratio=draw(st.sampled_from([1.0, 1.25, 1.5, 2.0]))
    )
    across, down = draw(st.floats(0, 1)) * fresh.width, draw(st.floats(0, 1)) * fresh.height
    return fresh.fitted().zoomed(draw(st.floats(0.001, 100)), across, down)


@given(viewports(), st.floats(0.05, 20), st.floats(0, 1), st.floats(0, 1))
def test_the_place_under_the_pointer_stays(viewport, factor, across, down):
    at = (across * viewport.width, down * viewport.height)
    before = viewport.to_image(*at)
    zoomed = viewport.zoomed(viewport.scale * factor, *at)
    after = zoomed.to_image(*at)
    seen = (zoomed.width / zoomed.scale, zoomed.height / zoomed.scale)
    content = zoomed.content
    for old, new, middle, start, length, view in zip(
        before,
        after,
        (zoomed.x, zoomed.y),
        (content.left, content.top),
        (content.width, content.height),
        seen,
        strict=True,
    ):
        at_an_edge = (
            length <= view * (1 + 1e-9)
            or math.isclose(middle, start + view / 2, rel_tol=1e-9, abs_tol=1e-6)
            or math.isclose(middle, start + length - view / 2, rel_tol=1e-9, abs_tol=1e-6)
        )
        assert at_an_edge or math.isclose(old, new, rel_tol=1e-6, abs_tol=1e-6)


@given(viewports(), st.floats(-10_000, 10_000), st.floats(-10_000, 10_000))
def test_no_gap_opens_beside_what_is_larger_than_the_view(viewport, across, down):
    moved = viewport.moved(across, down)
    content = moved.content
    left, top = moved.to_view(content.left, content.top)
    right, bottom = moved.to_view(content.left + content.width, content.top + content.height)
    for low, high, view in ((left, right, moved.width), (top, bottom, moved.height)):
        if high - low > view:
            assert low <= 1e-3
            assert high >= view - 1e-3
        else:
            assert abs((low + high) / 2 - view / 2) <= 1e-3, "what is smaller stands in the middle"


@given(viewports())
def test_fitted_shows_all_of_it_and_wastes_nothing(viewport):
    fitted = viewport.fitted()
    across = fitted.content.width * fitted.scale / fitted.width
    down = fitted.content.height * fitted.scale / fitted.height
    assert max(across, down) <= 1 + 1e-9
    assert math.isclose(max(across, down), 1, rel_tol=1e-6) or fitted.scale * fitted.pixel_ratio >= LARGEST * 0.999
    assert not fitted.can_move()


@given(viewports(), st.floats(0, 1e6))
def test_zoom_has_bounds(viewport, scale):
    zoomed = viewport.zoomed(scale, 0, 0)
    assert zoomed.smallest() * 0.999 <= zoomed.scale
    assert zoomed.scale <= LARGEST / zoomed.pixel_ratio * 1.001 or zoomed.scale == zoomed.smallest()


@given(viewports(), st.floats(-1000, 1000), st.floats(-1000, 1000))
def test_places_go_to_the_view_and_back(viewport, x, y):
    there = viewport.to_image(*viewport.to_view(x, y))
    assert math.isclose(there[0], x, rel_tol=1e-6, abs_tol=1e-3)
    assert math.isclose(there[1], y, rel_tol=1e-6, abs_tol=1e-3)


@given(viewports(), st.floats(0.05, 20))
def test_a_larger_image_in_its_place_stays_as_large_on_the_screen(viewport, factor):
    old = viewport.content
    assume(old.width * factor >= 1 and old.height * factor >= 1)
    new = Content(left=old.left * factor, top=old.top * factor, width=old.width * factor, height=old.height * factor)
    replaced = viewport.replaced(new)
    assert math.isclose(new.width * replaced.scale, old.width * viewport.scale, rel_tol=1e-6)
    for old_place, new_place in zip(
        viewport.to_view(old.left, old.top), replaced.to_view(new.left, new.top), strict=True
    ):
        assert math.isclose(old_place, new_place, rel_tol=1e-6, abs_tol=1e-2)


def test_the_actual_size_is_one_pixel_of_the_screen():
    viewport = Viewport(content=Content(left=0, top=0, width=100, height=100), width=50, height=50, pixel_ratio=2.0)
    assert viewport.zoomed(viewport.actual_scale(), 25, 25).scale * 2.0 == 1.0
