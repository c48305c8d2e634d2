"""What was added is told apart: models, and files that cannot be used."""

import pytest
from create_page import model_info

from mezzotint_app.viewmodel.models.found import found_words


def broken(name):
    return model_info(name, problem="a pickle")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((), "No new models found there. LoRAs are in the tab LoRAs."),
        ((model_info("a"),), "1 model added: a. Select it under Model."),
        (
            (broken("old.ckpt"), model_info("a"), broken("thing")),
            "1 model added: a. Select it under Model. 2 files cannot be used: old.ckpt, thing. "
            "The Models page shows why.",
        ),
        ((broken("x"),), "1 file cannot be used: x. The Models page shows why."),
        (tuple(model_info(name) for name in "abcd"), "4 models added: a, b, c, …. Select one under Model."),
    ],
)
def test_words(found, words):
    assert found_words(found) == words
