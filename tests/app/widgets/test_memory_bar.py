"""The bar says in words what it shows, and its parts differ without colour."""

import pytest
from made_plans import plan

from mezzotint_app import theme
from mezzotint_app.viewmodel.create.plan_text import Segment, plan_segments
from mezzotint_app.widgets.memory_bar import MemoryBar

GB = 1 << 30


@pytest.fixture
def bar(qtbot):
    bar = MemoryBar()
    qtbot.addWidget(bar)
    bar.resize(200, 12)
    return bar


def grey(bar, segment):
    """The part in greys, without its line at the right."""
    bar.show_segments([segment])
    image = bar.grab().toImage()
    return [[round(image.pixelColor(x, y).lightnessF(), 1) for x in range(4, 60)] for y in range(3, image.height() - 3)]


def test_the_parts_are_told_in_words(bar):
    bar.show_segments(plan_segments(plan()))
    assert bar.words() == "weights 2.0 GB, working memory 1.0 GB, driver and reserve 614.4 MB, free 4.4 GB"
    assert bar.words() in bar.accessibleName()
    assert bar.toolTip() == bar.words()


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_parts_differ_in_pattern_and_not_in_colour_alone(bar, qapp, choice):
    theme.apply(qapp, choice)
    shown = [
        grey(bar, Segment(kind=kind, bytes=GB, name=kind)) for kind in ("weights", "activations", "other", "missing")
    ]
    for one in range(len(shown)):
        for other in range(one):
            assert shown[one] != shown[other]


def test_the_width_of_a_part_is_its_share(bar):
    bar.show_segments([Segment(kind="weights", bytes=GB, name="w"), Segment(kind="free", bytes=3 * GB, name="f")])
    image = bar.grab().toImage()
    accent = theme.colour("accent").name()
    middle = image.height() // 2
    painted = [x for x in range(image.width()) if image.pixelColor(x, middle).name() == accent]
    assert len(painted) == pytest.approx(image.width() / 4, abs=3)


def test_without_parts_it_is_not_there(bar):
    bar.show_segments([])
    assert bar.isHidden()
