"""How many prompts there are, counted elsewhere."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.jobs.matrix import alternatives
from mezzotint_app.viewmodel.create.prompting.alternatives import Alternatives, PromptAlternatives, counted


def test_without_braces_nothing_is_counted(inline, qapp):
    inline.held = True
    found = PromptAlternatives(inline)
    found.set("a house")
    assert found.found() == Alternatives(prompt="a house", count=1, longest="a house")
    assert inline.waiting == []


def test_the_newest_is_counted_and_older_answers_are_dropped(inline, qapp, qtbot):
    inline.held = True
    found = PromptAlternatives(inline)
    found.set("{a|b}")
    qtbot.waitUntil(lambda: len(inline.waiting) == 1)
    found.set("{a|bb|c}")
    inline.go()
    qtbot.waitUntil(lambda: bool(inline.waiting) or found.found().count == 3)
    inline.go()
    assert found.found() == Alternatives(prompt="{a|bb|c}", count=3, longest="bb")


def test_too_many_are_told():
    assert "10000" in counted("{1|2|3|4|5|6|7|8|9|0}" * 5).problem
    assert counted("{a|b}" * 3).problem is None


@given(st.text("a{|}\\ ", max_size=12))
def test_the_count_is_that_of_the_queue(prompt):
    found = counted(prompt)
    assert found.count == len(alternatives(prompt))
    assert found.longest in alternatives(prompt)
