"""What weights take on the device, and passes in time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned_machines import MB, component

from mezzotint.memory.planning.costs import (
    CopyRates,
    Layout,
    compute_seconds,
    layouts,
    pass_seconds,
    streamed_bytes,
    total_bytes,
)


@given(
    st.lists(st.integers(1, 50), max_size=12),
    st.sampled_from(["none", "int8"]),
    st.sampled_from(["float32", "bfloat16"]),
)
def test_layouts_hold_all_weights_and_never_take_more_than_the_whole(sizes, scheme, dtype):
    network = component("unet", "denoiser", [size * MB for size in sizes])
    ways = layouts(network, scheme, dtype)
    whole = total_bytes(network, scheme, dtype)
    assert ways[0] == Layout(len(sizes), 0, whole, whole, 0)
    for way in ways[1:]:
        assert way.resident_bytes + way.streamed_bytes == whole
        assert way.resident_bytes < way.device_bytes < whole
        assert len(sizes) - way.resident > way.slots >= 2


def test_slots_are_as_large_as_the_largest_of_their_blocks():
    network = component("unet", "denoiser", [5 * MB, 1 * MB, 2 * MB, 3 * MB, 9 * MB], outside=0, schemes=("none",))
    found = {(way.resident, way.slots): way.device_bytes // MB for way in layouts(network, "none", "bfloat16")}
    assert found[0, 2] == 9 + 3
    assert found[0, 3] == 5 + 9 + 2
    assert found[5, 0] == 20


def test_an_encoder_keeps_its_blocks_by_quarters():
    network = component("text_encoder", "text", [MB] * 24)
    assert {way.resident for way in layouts(network, "none", "bfloat16")} == {0, 6, 12, 18, 24}


def test_in_32_bits_only_what_is_quantized_stays_small():
    network = component("unet", "denoiser", [100 * MB], outside=10 * MB)
    assert total_bytes(network, "none", "float32") == 220 * MB
    assert total_bytes(network, "int8", "float32") == pytest.approx((51 + 20) * MB, rel=0.01)
    wide = component("vae", "vae", [], outside=10 * MB, float32=True)
    assert [total_bytes(wide, "none", dtype) for dtype in ("bfloat16", "float16", "float32")] == [
        10 * MB,
        20 * MB,
        20 * MB,
    ]


def test_copying_hides_behind_computing_almost():
    streamed = Layout(0, 2, 2 * MB, MB, 10**9)
    assert pass_seconds(Layout(4, 0, MB, MB, 0), 1.0, CopyRates(1e9)) == 1.0
    assert 1.0 < pass_seconds(streamed, 1.0, CopyRates(1e10)) < 1.02
    assert 10 < pass_seconds(streamed, 1.0, CopyRates(1e8)) < 11.5
    assert pass_seconds(streamed, 1.0, CopyRates(1e8), arriving=True) > pass_seconds(streamed, 1.0, CopyRates(1e8))
    assert pass_seconds(Layout(4, 0, 10**9, 10**9, 0), 0.0, CopyRates(1e9), arriving=True) == pytest.approx(
        1.0, rel=0.1
    )


@given(st.floats(0.01, 10), st.floats(1e8, 1e11), st.sampled_from([0, 2, 3]))
def test_computing_is_found_in_what_a_pass_took(computing, rate, slots):
    layout, copy_rates = Layout(0, slots, 2 * MB, MB, 10**9 if slots else 0), CopyRates(rate)
    copying = pass_seconds(layout, 0.0, copy_rates)
    found = compute_seconds(layout, pass_seconds(layout, computing, copy_rates), copy_rates)
    if computing > 1.001 * copying:
        assert found == pytest.approx(computing)
    if found is not None:
        assert found > copying


def test_what_is_page_locked_comes_faster_and_is_what_is_streamed_first():
    streamed = Layout(0, 2, 2 * MB, 10**9, 10**9)
    plain, fast = CopyRates(1e9), CopyRates(1e10)
    for locked, moved, wanted in ((0, 10**9, 1.0), (10**9, 10**9, 0.1), (10**9, 2 * 10**9, 1.1), (5e8, 10**9, 0.55)):
        assert CopyRates(1e9, int(locked), 1e10).seconds(moved) == pytest.approx(wanted)
    assert pass_seconds(streamed, 0.0, CopyRates(1e9, 10**9, 1e10)) == pass_seconds(streamed, 0.0, fast)
    assert pass_seconds(streamed, 0.0, CopyRates(1e9, 10**9, 1e10), arriving=True) < pass_seconds(
        streamed, 0.0, plain, arriving=True
    )


@pytest.mark.parametrize("streamed", [0, 1, 3, 5])
def test_streamed_blocks_take_as_much_as_their_layout(streamed):
    network = component("unet", "denoiser", [5 * MB, 1 * MB, 2 * MB, 3 * MB, 9 * MB], outside=MB, schemes=("none",))
    found = streamed_bytes(network, "none", "bfloat16", streamed, 2)
    if streamed in {0, 1}:
        assert found == total_bytes(network, "none", "bfloat16"), "a block in a slot of its own saves nothing"
    else:
        ways = {(len(network.blocks) - way.resident, way.slots): way for way in layouts(network, "none", "bfloat16")}
        assert found == ways[streamed, 2].device_bytes
