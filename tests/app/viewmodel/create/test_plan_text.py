"""A plan in one line and a bar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_plans import GB, component, phase, plan

from mezzotint_app.viewmodel.create.plan_text import peak_phase, plan_line, plan_segments

SIZES = st.integers(0, 64 * GB)


def test_one_line_says_what_it_needs_how_and_what_would_make_it_faster():
    line = plan_line(
        plan(quantization="int8-weight", components=(component(slots=2, host="disk"),), seconds_resident=20.0),
        card=True,
    )
    assert line == (
        "Needs 3.6 GB of 8.0 GB VRAM, about 35 s: 8-bit weights, weights streamed, read from disk; "
        "faster with 14 GB of RAM"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Needs 3.6 GB of 8.0 GB VRAM, about 35 s"),
        ({"quantization": "int4-lowrank"}, "4-bit weights"),
        ({"text_quantization": "int8"}, "quantized text encoders"),
        ({"vae_tile": 512}, "tiled decoding"),
        ({"guidance": "sequential"}, "guidance in two passes"),
        ({"seconds": 70.0}, "about 35 s if everything fit in VRAM"),
        ({"components": (component(slots=3),)}, "weights streamed"),
    ],
)
def test_the_ways_in_which_it_fits(fields, words):
    assert words in plan_line(plan(**fields), card=True)


def test_without_a_card_it_is_memory():
    assert plan_line(plan(), card=False).startswith("Needs 3.6 GB of 8.0 GB of memory")


@pytest.mark.parametrize(
    ("fields", "card", "words"),
    [
        ({"smallest_vram_bytes": 9 * GB}, True, "Does not fit: needs 9.0 GB of VRAM and 3.0 GB of RAM"),
        ({"smallest_ram_bytes": 99 * GB}, False, "Does not fit: needs 99.0 GB of RAM, of 16.0 GB"),
        ({"smallest_vram_bytes": 9 * GB}, True, "the memory setting Lowest"),
        ({"smallest_vram_bytes": 9 * GB, "memory": "lowest"}, True, "A smaller size needs less"),
        ({}, True, "Close other programs"),
    ],
)
def test_what_does_not_fit_says_what_would(fields, card, words):
    assert words in plan_line(plan(fits=False, **fields), card=card)


@given(SIZES, SIZES, SIZES, SIZES)
def test_the_bar_adds_up(weights, activations, rest, have):
    peak = weights + activations + rest
    made = plan(vram_bytes=have, phases=(phase("encode", 0, 0, 0), phase("stage 1", weights, activations, peak)))
    parts = {part.kind: part.bytes for part in plan_segments(made)}
    assert all(count > 0 for count in parts.values())
    used = sum(parts.get(kind, 0) for kind in ("weights", "activations", "other"))
    assert used == peak
    assert used + parts.get("free", 0) - parts.get("missing", 0) == max(have, peak) - max(0, peak - have)
    assert not {"free", "missing"} <= parts.keys()


def test_a_plan_without_phases_has_no_bar():
    assert plan_segments(plan(phases=())) == ()
    assert peak_phase(plan(phases=())) is None
