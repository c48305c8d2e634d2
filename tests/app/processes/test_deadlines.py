"""How long a job may be silent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.protocol import Decoding, Encoding, GeneratedImage, Loading, Notice, Saved, Step
from mezzotint.queue_protocol import TaskEnded
from mezzotint_app.processes import deadlines
from mezzotint_app.processes.deadlines import SilenceLimit

GB = 1 << 30


def loading(total):
    return Loading(model="m", component="unet", bytes_done=0, bytes_total=total)


def step(number, steps=20, stage=0):
    return Step(image=0, images=1, stage=stage, stages=2, step=number, steps=steps, sigma=1.0, preview=None)


def saved(index, images):
    image = GeneratedImage(path="a.png", width=1, height=1, seed=1, index=index, sha256="0")
    return Saved(image=image, images=images)


def after(*events):
    silence_limit = SilenceLimit()
    for event, silence in events:
        silence_limit.record(event, silence)
    return silence_limit


def test_larger_models_may_load_longer():
    small, large = after((loading(GB), 1)).limit(), after((loading(10 * GB), 1)).limit()
    assert small < large
    assert large - small == pytest.approx(9 * GB / deadlines.LOADING_BYTES_PER_SECOND)


def test_a_step_may_take_twenty_usual_ones_but_a_minute_always():
    quick = after(*[(step(number), 0.5) for number in range(1, 6)])
    assert quick.limit() == 60
    slow = after(*[(step(number), 30.0) for number in range(1, 6)])
    assert slow.limit() == 600


def test_the_first_step_and_the_way_to_the_next_stage_may_take_long():
    assert after((Encoding(stage=0, stages=1), 1)).limit() == deadlines.FIRST_STEP
    assert after((step(1), 1)).limit() == deadlines.FIRST_STEP
    assert after((step(1), 1), (step(2), 1), (step(20), 1)).limit() == deadlines.FIRST_STEP


def test_the_way_between_stages_is_no_step():
    silence_limit = after((step(1), 9), (step(20), 1), (step(1, stage=1), 500), (step(2, stage=1), 1))
    assert silence_limit.limit() == 60


def test_after_the_last_image_the_answer_is_due():
    assert after((saved(1, 2), 1)).limit() == deadlines.ANSWERING
    assert after((saved(0, 2), 1)).limit() == deadlines.FIRST_STEP
    assert after((Decoding(image=0, images=1), 1)).limit() == deadlines.DECODING


def test_notices_change_nothing():
    silence_limit = after((loading(GB), 1))
    limit = silence_limit.limit()
    silence_limit.record(Notice(code="a", message="b"), 500)
    assert silence_limit.limit() == limit


def test_one_that_was_asked_to_stop_has_a_minute_or_a_few_steps():
    silence_limit = after((loading(100 * GB), 1))
    silence_limit.stop()
    assert silence_limit.limit() == deadlines.STOPPING
    slow = after(*[(step(number), 100.0) for number in range(1, 6)])
    slow.stop()
    assert slow.limit() == 300


EVENTS = st.one_of(
    st.builds(loading, st.integers(0, 100 * GB)),
    st.builds(Encoding, stage=st.just(0), stages=st.just(1)),
    st.builds(step, st.integers(1, 20), stage=st.integers(0, 1)),
    st.builds(Decoding, image=st.just(0), images=st.just(1)),
    st.builds(saved, st.integers(0, 2), st.just(3)),
)


@given(st.lists(st.tuples(EVENTS, st.floats(0, 1e5)), max_size=30), st.booleans())
def test_nothing_is_given_up_within_a_minute_and_nothing_is_waited_for_without_end(events, stop):
    silence_limit = after(*events)
    if stop:
        silence_limit.stop()
    longest = max([silence for _, silence in events], default=0)
    assert 60 <= silence_limit.limit() <= max(1e5, 20 * longest)
    assert silence_limit.activity_text()


def test_between_two_tasks_the_next_may_be_prepared_and_has_a_pace_of_its_own():
    ended = TaskEnded(task=1, state="done", result=None, failure=None)
    silence_limit = after((step(1), 9), (step(2), 30.0), (saved(0, 1), 1), (ended, 1))
    assert silence_limit.limit() == deadlines.PREPARING and "preparing" in silence_limit.activity_text()
    silence_limit.record(step(1), 1)
    silence_limit.record(step(2), 1)
    assert silence_limit.limit() == deadlines.STEP
