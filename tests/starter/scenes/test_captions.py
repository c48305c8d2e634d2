import random

import pytest
from drawn_things import SUBJECTS

from mezzotint.benchmarks.postcards.wording import COLOUR_WORDS, TERRAIN_NOUNS, TERRAIN_PHRASES
from mezzotint_starter.scenes.captions import plain_caption, random_caption
from mezzotint_starter.scenes.wording import plural
from mezzotint_starter.scenes.world import training_scene

SCENES = [training_scene(SUBJECTS, 0, index) for index in range(400)]


@pytest.fixture(scope="module")
def captions():
    return [(scene, *random_caption(scene, random.Random(number))) for number, scene in enumerate(SCENES)]


def test_captions_mention_what_they_state(captions):
    for scene, text, facts in captions:
        words = text.lower()
        for thing in facts.things:
            (subject,) = {each.subject for each in scene.placements if each.subject.name == thing.name}
            names = (subject.name, *subject.synonyms)
            assert any(name in words or plural(name) in words for name in names), text
            assert thing.colour is None or any(
                word in words for word in (thing.colour, *COLOUR_WORDS.get(thing.colour, ()))
            ), text


def test_what_is_stated_is_true(captions):
    for scene, _, facts in captions:
        by_name = {each.subject.name: each for each in scene.placements}
        assert facts.number == len(scene.placements)
        assert {thing.name for thing in facts.things} == by_name.keys()
        for thing in facts.things:
            placed = by_name[thing.name]
            assert thing.colour in (None, placed.colour)
            assert thing.size in (None, placed.size)
            assert thing.side is None or scene.is_number or thing.side == placed.side
        assert facts.terrain in (None, scene.scenery.terrain)
        assert facts.style in (None, scene.style)


def test_the_terrain_is_said_in_words_that_are_its_own(captions):
    for _, text, facts in captions:
        if facts.terrain is not None:
            own = TERRAIN_PHRASES[facts.terrain] + TERRAIN_NOUNS[facts.terrain]
            words = set(text.lower().replace(",", " ").replace(".", " ").split())
            assert any(set(phrase.split()) <= words for phrase in own), text


def test_wordings_differ():
    pair = next(scene for scene in SCENES if len(scene.placements) == 2 and not scene.is_number)
    assert len({random_caption(pair, random.Random(seed))[0] for seed in range(50)}) > 40


def test_a_plain_caption_states_all():
    for scene in SCENES[:100]:
        text = plain_caption(scene)
        assert TERRAIN_PHRASES[scene.scenery.terrain][0] in text
        for each in scene.placements:
            assert each.subject.name in text
            assert each.colour is None or each.colour in text


@pytest.mark.parametrize(
    ("name", "several"),
    [("cat", "cats"), ("mouse", "mice"), ("cherry", "cherries"), ("box", "boxes"), ("cup of tea", "cups of tea")],
)
def test_plurals(name, several):
    assert plural(name) == several


@pytest.mark.parametrize("name", ["sheep", "jellyfish", "glasses", "bread", "rhinoceros"])
def test_names_that_are_alike_in_both_numbers(name):
    assert plural(name) == name
