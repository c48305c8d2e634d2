from dataclasses import replace

import numpy as np
import pytest

from mezzotint.benchmarks.postcards.captions import VALUES, all_attributes
from mezzotint.benchmarks.postcards.edits import EDITABLE, judging_edit, training_edit
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import is_held_out


def changed(edit):
    before, after = all_attributes(edit.before), all_attributes(edit.after)
    return [name for name in VALUES if getattr(before, name) != getattr(after, name)]


@pytest.mark.parametrize("index", range(25))
def test_an_edit_changes_the_attribute_that_it_names_and_no_other(index):
    for edit in (training_edit(0, index), judging_edit(0, index)):
        assert changed(edit) == [edit.attribute]
        assert edit.before.seed == edit.after.seed
    assert not is_held_out(training_edit(0, index).before) | is_held_out(training_edit(0, index).after)
    assert is_held_out(judging_edit(0, index).before) & is_held_out(judging_edit(0, index).after)


def test_edits_repeat_and_those_for_judging_take_turns():
    assert [judging_edit(0, index) for index in range(5)] == [judging_edit(0, index) for index in range(5)]
    assert tuple(judging_edit(0, index).attribute for index in range(5)) == EDITABLE


def test_instructions_are_english():
    texts = [training_edit(0, index).instruction for index in range(400)]
    assert not [text for text in texts if " a a" in text or " an b" in text or "{" in text]


def test_an_edited_thing_leaves_the_scenery_as_it_is():
    scene = replace(training_edit(0, 0).before, terrain="desert", time="day", weather="clear")
    thing = replace(scene.things[0], place="left")
    red, blue = (
        np.asarray(paint(replace(scene, things=(replace(thing, colour=colour),)))) for colour in ("red", "blue")
    )
    assert (red != blue).any()
    assert (red[:, 100:] == blue[:, 100:]).all()


def test_weather_leaves_the_ground_where_it_is():
    scene = replace(training_edit(0, 0).before, terrain="forest", time="night", weather="clear")
    ridge = [
        np.asarray(paint(replace(scene, weather=weather)).convert("L"))[40:70].argmin(axis=0)
        for weather in ("clear", "rain")
    ]
    assert (ridge[0] == ridge[1]).mean() > 0.5
