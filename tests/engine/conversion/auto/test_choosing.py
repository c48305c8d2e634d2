"""The choice of formats: what any layers and any room promise."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mezzotint.conversion.auto.choosing import choose_mix, mix_after, moves_of
from mezzotint.conversion.auto.layers import Candidate, MeasuredLayer
from mezzotint.quantization.formats import Int8, LowRank4, Nf4

FORMATS = (Int8(dynamic=True), Int8(dynamic=False), LowRank4(), Nf4())
quick = settings(max_examples=100, deadline=None)


def layer(name, *candidates, work=1.0, influence=1.0):
    """A layer of 1000 bytes; candidates: (bytes, error, speed)."""
    smaller = [
        Candidate(format=format_, bytes=size, error=error, speed=speed)
        for format_, (size, error, speed) in zip(FORMATS, candidates, strict=False)
    ]
    exact = Candidate(format=None, bytes=1000, error=0.0, speed=1.0)
    return MeasuredLayer(name=name, candidates=(exact, *smaller), work=work, influence=influence)


candidates = st.tuples(st.integers(100, 1200), st.floats(0, 0.5), st.floats(0.5, 2))
networks = st.lists(
    st.tuples(st.lists(candidates, min_size=1, max_size=4), st.floats(0, 2)), min_size=1, max_size=8
).map(lambda drawn: [layer(str(number), *each, influence=by) for number, (each, by) in enumerate(drawn)])


def within(room):
    return lambda mix: mix.bytes <= room


@quick
@given(networks, st.floats(0, 1))
def test_what_is_chosen_fits(layers, share):
    smallest = mix_after(layers, moves_of(layers)).bytes
    room = smallest + int(share * (1000 * len(layers) - smallest))
    found = choose_mix(layers, within(room))
    assert found is not None and found.bytes <= room
    assert set(found.chosen) == {each.name for each in layers}


@quick
@given(networks, st.floats(0, 1), st.floats(0, 1))
def test_a_larger_target_never_has_a_larger_error(layers, one, other):
    rooms = sorted(int(share * 1000 * len(layers)) for share in (one, other))
    small, large = (choose_mix(layers, within(room)) for room in rooms)
    if small is None:
        return
    assert large is not None
    assert large.error <= small.error * (1 + 1e-9)
    for each in layers:
        assert large.chosen[each.name].bytes >= small.chosen[each.name].bytes


@quick
@given(networks)
def test_all_moves_reach_the_smallest_mix_there_is(layers):
    smallest = sum(min(each.bytes for each in one.candidates) for one in layers)
    assert mix_after(layers, moves_of(layers)).bytes == smallest
    assert choose_mix(layers, within(smallest)) is not None
    assert choose_mix(layers, within(smallest - 1)) is None


@quick
@given(networks)
def test_room_for_everything_leaves_everything_as_it_is(layers):
    found = choose_mix(layers, within(1000 * len(layers)))
    assert found is not None and found.error == 0 and found.seconds == 1
    assert all(each.format is None for each in found.chosen.values())


def test_the_layer_that_loses_less_is_quantized_first():
    calm, loud = layer("calm", (500, 0.01, 1)), layer("loud", (500, 0.1, 1))
    found = choose_mix([loud, calm], within(1500))
    assert found is not None
    assert found.chosen["calm"].bytes == 500 and found.chosen["loud"].bytes == 1000


def test_influence_counts_as_error_does():
    first, last = layer("first", (500, 0.01, 1), influence=0.1), layer("last", (500, 0.01, 1), influence=1)
    found = choose_mix([last, first], within(1500))
    assert found is not None
    assert found.chosen["first"].bytes == 500 and found.chosen["last"].bytes == 1000
    assert found.error == pytest.approx(0.001)


def test_of_equal_sizes_the_faster_one_unless_it_loses_too_much():
    near, far = layer("near", (500, 0.02, 1.5), (500, 0.01, 0.95)), layer("far", (500, 0.2, 1.5), (500, 0.01, 0.95))
    found = choose_mix([near, far], within(1000))
    assert found is not None
    assert found.chosen["near"].speed == 1.5 and found.chosen["far"].speed == 0.95


@pytest.mark.parametrize(("size", "chosen"), [(520, 520), (530, 500)])
def test_sizes_that_hardly_differ_are_the_same(size, chosen):
    fast = (size, 0.13, 2.0)  # as NVFP4 is to INT4 with a branch
    candidates = layer("a", (400, 0.3, 1), (500, 0.08, 1.2), fast)
    found = choose_mix([candidates], within(size))
    assert found is not None and found.chosen["a"].bytes == chosen
    found = choose_mix([candidates], within(450))
    assert found is not None and found.chosen["a"].bytes == 400, "the smallest stays, whatever it costs"


def test_errors_add_as_independent_ones_and_times_by_work():
    layers = [layer("a", (500, 0.03, 2), work=3), layer("b", (500, 0.04, 1), work=1)]
    found = choose_mix(layers, within(1000), other_work=4.0)
    assert found is not None
    assert found.error == pytest.approx(math.hypot(0.03, 0.04))
    assert found.seconds == pytest.approx((3 / 2 + 1 + 4) / 8)
    assert found.saved == {"a": 500, "b": 500}


def test_a_format_larger_than_16_bits_is_never_chosen():
    found = mix_after([layer("a", (1100, 0.0, 2))], moves_of([layer("a", (1100, 0.0, 2))]))
    assert found.bytes == 1000
