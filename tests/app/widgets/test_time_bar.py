"""The timeline of a job says in words what it shows."""

from mezzotint_app.viewmodel.create.timeline import Span
from mezzotint_app.widgets.time_bar import TimeBar

SPANS = (Span(kind="load", name="loading", seconds=2.12), Span(kind="denoise", name="20 steps", seconds=0.04))


def test_the_parts_are_told_in_words(qtbot):
    bar = TimeBar()
    qtbot.addWidget(bar)
    bar.show_spans(SPANS)
    assert bar.words() == "2.2 s: loading 2.1 s, 20 steps 0.04 s"
    assert bar.words() in bar.accessibleName() and bar.toolTip() == bar.words()
    assert not bar.grab().isNull()
    bar.show_spans(())
    assert bar.words() == "" and not bar.isVisible()
