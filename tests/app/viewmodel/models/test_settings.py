"""Each model has settings of its own; how many images are wanted is the person's, whatever makes them."""

import pytest
from create_page import kit_of

from mezzotint_app.viewmodel.create.state import CreateSettings


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def test_the_number_of_images_goes_along_to_another_model(kit):
    chosen = kit.create.chosen
    chosen.set_model("base")
    chosen.change(count=4, steps=7)
    chosen.set_model("dit")
    assert (chosen.settings().count, chosen.settings().steps) == (4, None)
    chosen.change(count=2)
    chosen.set_model("base")
    assert (chosen.settings().count, chosen.settings().steps) == (2, 7)


def test_numbers_that_an_older_version_kept_for_each_model_hold_until_one_is_set(kit):
    kit.state.change(model="base", count=None, per_model={"base": CreateSettings(count=3), "dit": CreateSettings()})
    chosen = kit.create.chosen
    assert chosen.settings().count == 3
    chosen.set_model("dit")
    assert chosen.settings().count == 1
    chosen.change(count=5)
    chosen.set_model("base")
    assert chosen.settings().count == 5
