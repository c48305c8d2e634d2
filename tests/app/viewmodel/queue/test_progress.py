"""How far a task is and how long it takes, from its events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.jobs.store import PhaseSeconds
from mezzotint.protocol import Decoding, Encoding, GeneratedImage, Loading, Notice, Saved, Step
from mezzotint_app.viewmodel.queue.progress import TaskProgress

PHASES = PhaseSeconds(load=20, encode=2, step=1, decode=3, save=1, steps=10)


def step(number, *, image=0, images=2, stage=0, stages=1, steps=10):
    return Step(
        image=image, images=images, stage=stage, stages=stages, step=number, steps=steps, sigma=1.0, preview=None
    )


def saved(index, images=2):
    image = GeneratedImage(path="/x.png", width=1, height=1, seed=index, index=index, sha256="")
    return Saved(image=image, images=images)


def loading(done, total=100):
    return Loading(model="m", component="unet", bytes_done=done, bytes_total=total)


def whole_run(images=2, steps=10, stages=1):
    """Every event of a task, with the moment it comes at."""
    now, events = 0.0, []
    for done in (0, 50, 100):
        events.append((now, loading(done)))
        now += 10
    events.append((now, Encoding(stage=0, stages=stages)))
    now += 2
    for image in range(images):
        for stage in range(stages):
            for number in range(1, steps + 1):
                now += 1
                events.append((now, step(number, image=image, images=images, stage=stage, stages=stages, steps=steps)))
        events.append((now, Decoding(image=image, images=images)))
        now += 4
        events.append((now, saved(image, images)))
    return events


def test_by_phases_the_time_left_falls_to_nothing():
    progress = TaskProgress(images=2)
    assert progress.seconds_left(PHASES) == 2 * 14 + 2 + 20
    progress = progress.after(loading(50), 0)
    assert progress.seconds_left(PHASES) == 2 * 14 + 2 + 10
    progress = progress.after(Encoding(stage=0, stages=1), 0)
    assert progress.seconds_left(PHASES) == 2 * 14 + 2
    progress = progress.after(step(5), 0)
    assert progress.seconds_left(PHASES) == 2 * 14 - 5
    progress = progress.after(Decoding(image=0, images=2), 0)
    assert progress.seconds_left(PHASES) == 2 * 14 - 10
    progress = progress.after(saved(0), 0)
    assert progress.seconds_left(PHASES) == 14
    progress = progress.after(step(1, image=1), 0).after(saved(1), 0)
    assert progress.seconds_left(PHASES) == 0


@given(st.integers(1, 4), st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_it_never_goes_back_and_ends_whole(images, steps, stages, known):
    phases = PhaseSeconds(load=20, encode=2, step=1, decode=3, save=1, steps=steps * stages) if known else None
    progress, last = TaskProgress(images=images), 0.0
    for now, event in whole_run(images, steps, stages):
        progress = progress.after(event, now)
        fraction = progress.fraction(phases)
        assert fraction is None or 0 <= fraction <= 1
        if fraction is not None and not isinstance(event, Loading):
            assert fraction >= last - 1e-9
            last = fraction
    assert progress.fraction(phases) == 1
    if known:
        assert progress.seconds_left(phases) == 0


def test_the_pace_of_this_run_is_believed_once_it_is_known():
    progress = TaskProgress(images=1)
    for number in range(1, 4):
        progress = progress.after(step(number, images=1), 5.0 * number)
    assert progress.seconds_left(PHASES) == 7 * 1 + 4
    progress = progress.after(step(4, images=1), 20.0)
    assert progress.seconds_left(PHASES) == 6 * 5 + 4


def test_without_earlier_runs_this_one_tells():
    progress = TaskProgress(images=2)
    assert progress.seconds_left() is None
    for number in range(1, 6):
        progress = progress.after(step(number), 2.0 * number)
    assert progress.seconds_left() == pytest.approx((1.5) * 10 * 2)


def test_what_is_done_is_said_in_words():
    progress = TaskProgress(images=2)
    words = [progress.words()]
    events = (
        loading(2**30, 2**31), Encoding(stage=0, stages=1), step(3), Decoding(image=0, images=2), saved(0),
    )  # fmt: skip
    for event in events:
        progress = progress.after(event, 0)
        words.append(progress.words())
    assert words == [
        "Starting",
        "Loading m: 1.0 GB of 2.0 GB",
        "Encoding the prompt",
        "Image 1 of 2: step 3 of 10",
        "Decoding image 1 of 2",
        "1 of 2 images saved",
    ]


def test_a_notice_changes_nothing():
    progress = TaskProgress(images=2).after(step(3), 0)
    assert progress.after(Notice(code="x", message="y"), 1) == progress


def test_of_a_cascade_the_stage_is_told(qapp):
    one = TaskProgress(images=2).after(step(3), 0).words()
    several = TaskProgress(images=2).after(step(3, stage=1, stages=3), 0).words()
    assert "stage" not in one and "stage 2 of 3" in several and "step 3 of 10" in several


@given(st.lists(st.tuples(st.integers(0, 10**12), st.floats(0, 1e6)), max_size=10), st.integers(0, 10**12))
def test_time_left_of_loading_is_never_negative_nor_told_at_once(events, total):
    progress, now = TaskProgress(), 0.0
    for done, seconds in events:
        progress = progress.after(loading(done, total), now)
        assert progress.load_left is None or (progress.load_left >= 0 and now >= 1)
        now += seconds
    assert TaskProgress().after(loading(5, total), now).load_left is None
