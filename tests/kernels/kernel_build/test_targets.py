"""Targets are held against what was measured, on the card that they are for."""

import pytest

from kernel_build.targets import ATTENTION_TARGETS, MEMORY_TARGETS, TARGETS, Bound, judge, target_text

SPEED, LEAN, KEPT = ATTENTION_TARGETS[0], ATTENTION_TARGETS[-1], MEMORY_TARGETS[3]
FITS = {"within_limit": True, "within_a_tenth": True, "ratio": 1.05}


@pytest.mark.parametrize(
    ("target", "measured", "device", "state", "why"),
    [
        (SPEED, {"tflops": 470.0}, "NVIDIA H200", "met", ""),
        (SPEED, {"tflops": 469.0}, "NVIDIA H200", "missed", "tflops 469, at least 470 wanted"),
        (SPEED, {"tflops": 100.0}, "NVIDIA L4", "pending", "it is for an H200"),
        (SPEED, None, "NVIDIA H200", "pending", "not measured"),
        (SPEED, {"tflops": None}, "NVIDIA H200", "pending", "there is no tflops"),
        (LEAN, {"ratio": 2.5, "peak_bytes": 17 << 20}, "NVIDIA L4", "met", ""),
        (LEAN, {"ratio": 2.5, "peak_bytes": 512 << 20}, "NVIDIA L4", "missed", "peak_bytes 5.369e+08, at most"),
        (KEPT, FITS, "NVIDIA L4", "met", ""),
        (KEPT, FITS | {"ratio": 1.2}, "NVIDIA L4", "missed", "ratio 1.2, at most 1.1 wanted"),
        (KEPT, FITS | {"within_limit": False}, "NVIDIA L4", "missed", "within_limit 0, at least 1 wanted"),
    ],
)
def test_a_target_is_met_missed_or_pending(target, measured, device, state, why):
    verdict = judge(target, measured, device)
    assert verdict.state == state and verdict.why.startswith(why) and bool(verdict.why) == bool(why)


def test_every_target_has_bounds_that_something_fails():
    assert len({target.what for target in TARGETS if target not in ATTENTION_TARGETS}) == len(TARGETS) - len(
        ATTENTION_TARGETS
    )
    for bound in (bound for target in TARGETS for bound in target.bounds):
        assert not (bound.holds(float("-inf")) and bound.holds(float("inf")))
    assert not Bound(of="x", least=1, most=2).holds(float("nan"))


def test_a_row_without_a_target_has_no_words_for_it():
    assert target_text(SPEED.what) == "at least 470 TFLOP/s" and target_text("nothing of the kind") == ""
