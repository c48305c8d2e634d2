"""Pages locked within one budget: what is copied most often first, to the byte."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.planning.page_locks import Moving, allotted


def test_what_is_copied_most_often_comes_first_and_the_last_gets_what_is_left():
    moving = [Moving("text", 90, 1), Moving("unet", 60, 30), Moving("vae", 5, 1), Moving("unet", 40, 2)]
    assert allotted(moving, 30) == {"unet": 30}
    assert allotted(moving, 130) == {"unet": 100, "text": 30}
    assert allotted(moving, 1000) == {"unet": 100, "text": 90, "vae": 5}
    assert allotted(moving, 0) == {}


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 5)), max_size=6), st.integers(0, 150))
def test_the_budget_is_used_up_and_nothing_waits_for_what_is_copied_less_often(sizes, budget):
    moving = [Moving(str(index), *each) for index, each in enumerate(sizes)]
    locked = allotted(moving, budget)
    assert sum(locked.values()) == min(budget, sum(each.bytes for each in moving))
    for one in moving:
        for other in moving:
            if other.times > one.times and one.key in locked:
                assert locked[other.key] == other.bytes
