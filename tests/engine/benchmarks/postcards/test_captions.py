"""What captions tell, and how often it is guessed."""

import pytest

from mezzotint.benchmarks.postcards.captions import VALUES, chance


def test_chance_is_the_best_blind_guess():
    assert {name: chance(name) for name in VALUES} == pytest.approx(
        {"kind": 1 / 8, "colour": 1 / 10, "place": 1 / 4, "terrain": 1 / 5, "time": 1 / 4, "weather": 3 / 5}
    )
