"""Pages locked within one budget: what is copied most often first, to the byte."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.page_locks import Moving, allotted, topped_up

movings = st.lists(
    st.builds(Moving, key=st.sampled_from("abc"), bytes=st.integers(0, 50), times=st.integers(0, 5)), max_size=6
)


def test_what_is_copied_most_often_comes_first_and_the_last_gets_what_is_left():
    moving = [Moving("text", 90, 1), Moving("unet", 60, 30), Moving("vae", 5, 1), Moving("unet", 40, 2)]
    assert allotted(moving, 30) == {"unet": 30}
    assert allotted(moving, 130) == {"unet": 100, "text": 30}
    assert allotted(moving, 1000) == {"unet": 100, "text": 90, "vae": 5}
    assert allotted(moving, 0) == {}


def test_what_is_of_no_use_goes_to_others():
    moving = [Moving("unet", 20, 30), Moving("unet", 0, 0), Moving("text", 10, 2), Moving("text", 70, 1)]
    assert topped_up({"unet": 100}, moving, 100) == {"unet": 20, "text": 80}
    assert topped_up({"unet": 100}, moving, 35) == {"unet": 20, "text": 15}
    assert topped_up({"text": 35}, moving, 35) == {"unet": 0, "text": 35}


@given(movings, movings, st.integers(0, 150))
def test_the_budget_holds_and_is_used_up(before, moving, budget):
    locked = topped_up(allotted(before, budget), moving, budget)
    most = {each.key: sum(one.bytes for one in moving if one.key == each.key) for each in moving}
    assert all(0 <= size <= most[key] for key, size in locked.items())
    assert sum(locked.values()) == min(budget, sum(most.values()))
