"""The form as a request."""

import pytest

from mezzotint.protocol import ModelRef
from mezzotint_app.viewmodel.train.state import TrainForm, prompts_of, request_of


@pytest.mark.parametrize(
    ("form", "prompts"),
    [
        (TrainForm(), ()),
        (TrainForm(trigger=" zibble "), ("a zibble",)),
        (TrainForm(word="castle"), ("a castle",)),
        (TrainForm(trigger="zibble", prompts="a zibble at night\n\n a barn \n"), ("a zibble at night", "a barn")),
    ],
)
def test_without_prompts_the_trigger_word_is_shown(form, prompts):
    assert prompts_of(form) == prompts


def test_what_is_left_open_is_left_to_the_preset():
    made = request_of(TrainForm(folder="/p", trigger=" zibble", rank=4), model="base", name="castle", output="/loras")
    assert (made.dataset, made.model, made.name, made.output) == ("/p", ModelRef(id="base"), "castle", "/loras")
    assert (made.trigger, made.settings.rank, made.settings.steps, made.settings.rate) == ("zibble", 4, None, None)
