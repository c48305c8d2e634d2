"""Which task comes next, and for whom."""

import threading
from collections import Counter
from dataclasses import replace

from batch_programs import task
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.run.dispatch import Dispatcher, affinity
from mezzotint.protocol import Cascade, ModelRef, Stage
from mezzotint.stages.together import batch_key


def of_model(number, model, side=64):
    one = task(number, "out")
    stage = Stage(model=ModelRef(id=model), width=side, height=side)
    return replace(one, request=replace(one.request, cascade=Cascade(stages=(stage,))))


def taken(dispatcher, count, taker=0):
    return [dispatcher.take(taker)[0].request.seed for _ in range(count)]


def test_those_of_one_model_and_shape_come_together():
    dispatcher = Dispatcher()
    kinds = [("a", 64), ("b", 64), ("a", 32), ("a", 64), ("b", 64), ("a", 32)]
    for number, (model, side) in enumerate(kinds):
        dispatcher.add(of_model(number, model, side))
    assert taken(dispatcher, 6) == [0, 3, 1, 4, 2, 5]


def test_two_that_take_share_the_models():
    dispatcher = Dispatcher()
    for number in range(6):
        dispatcher.add(of_model(number, "ab"[number % 2]))
    order = [dispatcher.take(taker)[0].request.seed for taker in (0, 1, 0, 1, 0, 1)]
    assert order == [0, 1, 2, 3, 4, 5]


def test_what_was_given_up_comes_first():
    dispatcher = Dispatcher()
    dispatcher.add(of_model(1, "a"))
    dispatcher.add(of_model(2, "a"))
    assert taken(dispatcher, 1) == [1]
    dispatcher.add_first(of_model(1, "b"))
    assert taken(dispatcher, 2) == [1, 2]


def test_nobody_waits_for_ever_behind_a_stream_of_another_model():
    dispatcher = Dispatcher()
    for number in range(3):
        dispatcher.add(of_model(number, "ab"[number == 1]))
    order = []
    for number in range(3, 20):
        order += taken(dispatcher, 1)
        dispatcher.add(of_model(number, "a"))
    assert 1 in order[:3]


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.integers(0, 2), max_size=30))
def test_each_is_handed_out_once(models, takers):
    dispatcher = Dispatcher()
    for number, model in enumerate(models):
        dispatcher.add(of_model(number, model))
    count = min(len(models), len(takers))
    found = [dispatcher.take(taker)[0].request.seed for taker in takers[:count]]
    found += taken(dispatcher, len(models) - count)
    assert Counter(found) == Counter(range(len(models)))


def always(batch_size):
    return lambda _: batch_size


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 6), st.integers(0, 6)), max_size=60),
)
def test_groups_are_of_one_kind_and_no_larger_than_asked_and_each_is_handed_out_once(kinds, takes):
    dispatcher = Dispatcher()
    coming = [(of_model(number, model), alone) for number, (model, alone) in enumerate(kinds)]
    alone = {number for number, (_, is_alone) in enumerate(kinds) if is_alone}
    waiting, found = 0, []
    for taker, batch_size, come in takes:
        for one, is_alone in coming[:come]:
            dispatcher.add(one, alone=is_alone)
            waiting += 1
        coming = coming[come:]
        if waiting:
            group = [one.request for one in dispatcher.take(taker, always(batch_size))]
            assert 1 <= len(group) <= batch_size
            assert len({batch_key(one) for one in group}) == 1
            assert len(group) == 1 or not alone & {one.seed for one in group}
            waiting -= len(group)
            found += [one.seed for one in group]
    while waiting:
        rest = dispatcher.take(0)
        found += [one.request.seed for one in rest]
        waiting -= len(rest)
    assert sorted(found) == list(range(len(kinds) - len(coming)))


def test_a_group_is_as_large_as_what_has_come():
    dispatcher = Dispatcher()
    for number in range(6):
        dispatcher.add(of_model(number, "ab"[number == 2]))
    assert [one.request.seed for one in dispatcher.take(0, lambda _: 4)] == [0, 1, 3, 4]
    dispatcher.add(of_model(6, "a"))
    dispatcher.add(of_model(7, "a"))
    dispatcher.add_first(of_model(8, "a"))
    assert [one.request.seed for one in dispatcher.take(0, lambda _: 4)] == [8, 5, 6, 7]


def test_what_the_engine_makes_alone_is_handed_out_alone():
    dispatcher = Dispatcher()
    for number in range(3):
        one = of_model(number, "a")
        dispatcher.add(replace(one, request=replace(one.request, compile=True)))
    assert len(dispatcher.take(0, lambda _: 4)) == 1


def test_held_nothing_is_handed_out_until_it_goes_on_and_at_the_end_nothing_more():
    dispatcher, got = Dispatcher(), []
    thread = threading.Thread(target=lambda: got.extend([dispatcher.take(0), dispatcher.take(0)]))
    dispatcher.hold(True)
    dispatcher.add(task(1, "out"))
    thread.start()
    assert got == []
    dispatcher.hold(False)
    dispatcher.end()
    thread.join()
    assert got[-1] == []


def test_affinity_is_of_what_has_to_be_prepared():
    one = task(1, "out").request
    assert affinity(one) == affinity(replace(one, seed=9, prompt="other words"))
    assert affinity(one) != affinity(replace(one, device="cpu"))
    cascades = [Cascade(stages=(Stage(model=ModelRef(id="flux", vae=vae)),)) for vae in (None, "v", "w")]
    assert len({affinity(replace(one, cascade=cascade)) for cascade in cascades}) == 3
