"""How long work will take."""

from dataclasses import replace

import pytest
from fake_engine import result_of
from hypothesis import given
from hypothesis import strategies as st
from queue_timings import record_timing

from mezzotint.jobs.expectation import KEPT, fading_median, seconds_of
from mezzotint.jobs.store import PhaseSeconds, run_key
from mezzotint.protocol import Cascade, GeneratedImage, GenerateRequest, ModelRef, Sampling, Stage, Timings

SECONDS = PhaseSeconds(load=10, encode=1, step=0.5, decode=2, save=0.25, steps=20)


def request(width=512, height=512, steps=20, model="m", **changes):
    stage = Stage(model=ModelRef(id=model), width=width, height=height, sampling=Sampling(steps=steps))
    return GenerateRequest(prompt="x", seed=1, cascade=Cascade(stages=(stage,)), **changes)


def test_nothing_is_known_of_what_was_never_made(store):
    assert store.expected(request()).seconds is None
    assert store.expected(request()).basis == "unknown"
    store.add([request()])
    assert store.expected_queue() is None
    assert store.expected_entry(1) is None


def test_an_empty_queue_takes_no_time(store):
    assert store.expected_queue() == 0


def test_the_phases_add_up(store):
    record_timing(store, run_key(request()), SECONDS)
    found = store.expected(request(steps=30, count=4))
    assert found.seconds == 10 + 1 + 4 * (30 * 0.5 + 2 + 0.25)
    assert (found.basis, found.phases.steps) == ("measured", 30)
    assert store.expected(request(steps=30, count=4), loaded=True).seconds == found.seconds - 10


def test_steps_that_are_not_said_are_those_of_the_last_time(store):
    record_timing(store, run_key(request()), SECONDS)
    assert store.expected(request(steps=None)).phases.steps == 20
    record_timing(store, run_key(request()), replace(SECONDS, steps=0))
    assert store.expected(request(steps=None)).seconds is None


def test_another_size_is_reckoned_by_its_pixels(store):
    record_timing(store, run_key(request(512, 512)), SECONDS)
    record_timing(store, run_key(request(2048, 2048)), replace(SECONDS, step=100))
    found = store.expected(request(1024, 512, steps=10))
    assert found.basis == "scaled"
    assert found.seconds == 10 + 1 + 10 * 1.0 + 4 + 0.5
    assert store.expected(request(1024, 512, model="another")).seconds is None
    assert store.expected(request(1024, 512, device="cpu")).seconds is None
    assert store.expected(request(None, None)).seconds is None  # the model's own size is not known here


def test_the_queue_loads_a_model_once(store, make):
    record_timing(store, run_key(request()), SECONDS)
    store.add([request(count=2), request(steps=10)])
    each = 2 + 0.25
    assert store.expected_queue() == pytest.approx(10 + 2 * 1 + 2 * (10 + each) + (5 + each))
    make(store.claim("me"), 1)  # what is there needs no time
    assert store.expected_queue() == pytest.approx(10 + 2 * 1 + (10 + each) + (5 + each))
    assert store.expected_entry(1) == store.expected_queue()
    store.add([request(model="unknown")])
    assert store.expected_queue() is None
    assert store.expected_entry(1) is not None
    store.cancel([2])
    assert store.expected_queue() is not None


def test_finishing_teaches(store, make):
    store.add([request()])
    task = store.claim("me")
    make(task)
    store.finish(task.id, SECONDS)
    assert store.expected(request()).seconds == 10 + 1 + 10 + 2 + 0.25


def test_a_warm_model_says_nothing_about_loading(store):
    for load in (10, 0, 0.1, 12, 0):
        record_timing(store, run_key(request()), replace(SECONDS, load=load))
    assert 10 <= store.expected(request()).phases.load <= 12


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1.0])
def test_times_that_cannot_be_teach_nothing(store, odd):
    record_timing(store, run_key(request()), replace(SECONDS, step=odd))
    assert store.expected(request()).seconds is None


def test_only_so_many_runs_are_remembered(store):
    for number in range(KEPT * 2):
        record_timing(store, run_key(request()), replace(SECONDS, step=float(number)))
    record_timing(store, run_key(request(model="n")), SECONDS)
    assert store._database.row("SELECT count(*) FROM timings WHERE key = 1") == (KEPT,)
    assert store.expected(request()).phases.step > KEPT


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_the_median_is_one_of_the_values(values):
    assert fading_median(values) in values


@given(st.floats(1, 100), st.floats(0, 1e6))
def test_one_odd_run_moves_nothing_and_a_lasting_change_soon_does(usual, odd):
    assert fading_median([odd, *[usual] * 10]) == usual
    assert fading_median([odd] * 6 + [usual] * 20) == odd


def test_what_a_result_took():
    images = [GeneratedImage(path="x", width=1, height=1, seed=1, index=0, sha256="")] * 2
    timings = Timings(load=3, encode=1, denoise=(8.0, 4.0), decode=2, save=1, total=20)
    result = replace(result_of(GenerateRequest(prompt="x"), images), timings=timings)
    assert seconds_of(result) == PhaseSeconds(load=3, encode=1, step=6, decode=1, save=0.5, steps=0)
    assert seconds_of(replace(result, images=())).decode == 2


def test_a_run_that_was_cancelled_teaches_its_pace(store):
    record_timing(store, run_key(request()), SECONDS)
    before = store.expected(request()).seconds
    store.learn_pace(request(), 2.5)
    assert store.expected(request()).seconds > before
