"""The model that a newcomer meets: its pictures show what the words say, as a judge of drawn scenes sees them."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from mezzotint.cli import main
from mezzotint.training.starter.judge import bundled_judge, load_judge, pixels_of
from mezzotint.training.starter.world import COLOURS, KINDS, TERRAINS, TIMES

VALUES = {"kind": KINDS, "colour": COLOURS, "terrain": TERRAINS, "time": TIMES}


@pytest.fixture
def pictures(capsys, tmp_path):
    """Pictures of the bundled model, made by the command."""

    def make(prompt, count):
        words = [
            "generate",
            prompt,
            "--steps",
            "12",
            "--seed",
            "1",
            "--count",
            str(count),
            "-o",
            f"{tmp_path}/",
            "--json",
        ]
        assert main(words) == 0
        return [Image.open(image["path"]) for image in json.loads(capsys.readouterr().out)["images"]]

    return make


@pytest.mark.parametrize(
    ("prompt", "truth"),
    [
        ("a red house by the sea at dusk", {"kind": "house", "colour": "red", "terrain": "sea", "time": "dusk"}),
        ("a white lighthouse by the sea at night", {"kind": "lighthouse", "terrain": "sea", "time": "night"}),
        ("a yellow tent in the mountains at night", {"kind": "tent", "colour": "yellow", "time": "night"}),
    ],
)
def test_it_shows_what_the_words_say(pictures, prompt, truth):
    judge = load_judge(bundled_judge())
    with torch.inference_mode():
        verdicts = judge(pixels_of(pictures(prompt, 4)))
    for attribute, value in truth.items():
        seen = [VALUES[attribute][int(index)] for index in verdicts[attribute].argmax(dim=1)]
        assert seen.count(value) >= 3, (attribute, seen)


def test_night_is_dark(pictures):
    night, day = (
        np.mean([np.array(p).mean() for p in pictures(words, 2)]) for words in ("a house at night", "a house by day")
    )
    assert night < day / 2
