"""Names are read in whole words, and what they deny is not what they say."""

import pytest

from mezzotint.families.name_words import said_in, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sdxl_lightning_4step", "sdxl lightning 4 step"),
        ("wildcardxXLTURBO_v10", "wildcardx xl turbo v 10"),
        ("noobaiXL-vPred10", "noobai xl v pred 10"),
        ("xlturbo", "xl turbo"),
        ("qwenimageedit", "qwenimage edit"),
        ("日本", ""),
    ],
)
def test_words(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize("name", ["turbodiesel", "no-turbo", "nonTurbo", "Not a turbo", "De-Turbo", "no turbo, turbo"])
def test_parts_of_words_and_denials_say_nothing(name):
    assert said_in(words_of(name), "turbo") is None


def test_the_words_found_are_given():
    assert said_in(words_of("my-vPrediction-mix"), "v ?pred(?:iction)?") == "v prediction"
