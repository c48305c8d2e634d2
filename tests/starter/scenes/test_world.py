import random

from drawn_things import SUBJECTS

from mezzotint_starter.scenes.world import HELD_OUT_SHARE, is_held_out, judging_scene, random_scene, training_scene


def test_scenes_are_the_same_for_the_same_number():
    scenes = [training_scene(SUBJECTS, 3, index) for index in (*range(30), *range(30))]
    assert scenes[:30] == scenes[30:]
    assert len({repr(scene) for scene in scenes}) == 30
    assert training_scene(SUBJECTS, 4, 0) != scenes[0]


def test_combinations_for_judging_are_never_trained():
    trained = [training_scene(SUBJECTS, 0, index) for index in range(300)]
    judged = [judging_scene(SUBJECTS, 0, index) for index in range(100)]
    assert not any(map(is_held_out, trained))
    assert all(map(is_held_out, judged))

    def combinations(scenes):
        return {(p.subject.name, p.colour, s.scenery.terrain, s.scenery.time) for s in scenes for p in s.placements}

    one_each = [scene for scene in judged if len(scene.placements) == 1]
    assert combinations(one_each).isdisjoint(combinations(trained))


def test_one_combination_in_ten_is_held_out():
    rng = random.Random(0)
    alone = [scene for scene in (random_scene(SUBJECTS, rng) for _ in range(3000)) if len(scene.placements) == 1]
    share = sum(map(is_held_out, alone)) / len(alone)
    assert abs(share - 1 / HELD_OUT_SHARE) < 0.06


def test_things_are_one_two_or_a_number_of_the_same():
    scenes = [training_scene(SUBJECTS, 0, index) for index in range(400)]
    assert {len(scene.placements) for scene in scenes} == {0, 1, 2, 3}
    for scene in scenes:
        names = [each.subject.name for each in scene.placements]
        assert len(names) < 3 or scene.is_number
        assert not scene.is_number or (len(set(names)) == 1 and "glasses" not in names)
        assert all(each.colour is None or each.subject.coloured for each in scene.placements)
        sides = [("left", "middle", "right").index(each.side) for each in scene.placements]
        assert sides == sorted(set(sides))
