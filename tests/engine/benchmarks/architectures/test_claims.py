"""Claims are computed from real layers; which ones hold is known."""

import pytest

from mezzotint.benchmarks.architectures.claims import Claim, claims

WRONG = {
    "latents, attention scores": 1 / 8**4,
    "2x2 merging with doubled width, attention scores": 8,
    "2x2 merging with doubled width, linear layers": 1,
    "bottleneck, r = 4": 2 / 36 + 1 / 16,
}


def test_those_that_hold_and_those_that_do_not():
    found = {each.name: each for each in claims()}
    assert all(each.remark for each in found.values() if not each.holds)
    for name, right in WRONG.items():
        assert found.pop(name).found_value == pytest.approx(right, rel=0.02), name
    same = found.pop("tiled attention is bitwise identical to softmax attention")
    assert not same.holds and same.found_value > 0.1
    assert [each.name for each in found.values() if not each.holds] == []
    assert found["depthwise-separable 3x3, 64 channels"].found_value > 0.85


def test_a_claim_of_at_least():
    known = {"name": "", "claimed": "", "claimed_value": 0.85, "at_least": True}
    assert Claim(**known, found_value=0.9).holds
    assert not Claim(**known, found_value=0.8).holds
