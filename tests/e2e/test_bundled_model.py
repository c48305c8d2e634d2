"""The models that a newcomer meets: their images show what the words say, as a judge of drawn scenes sees them."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from mezzotint.benchmarks.postcards.judge import bundled_judge, load_judge, pixels_of
from mezzotint.benchmarks.postcards.measures import detail
from mezzotint.benchmarks.postcards.world import COLOURS, KINDS, TERRAINS, TIMES
from mezzotint.cli import main

pytestmark = pytest.mark.usefixtures("every_device")

VALUES = {"kind": KINDS, "colour": COLOURS, "terrain": TERRAINS, "time": TIMES}
SETTINGS = {
    "dit": ("-m", "starter-dit"),
    "xl": ("-m", "starter-xl"),
    "xl with its refiner": ("-m", "starter-xl", "--refiner", "starter-xl-refiner"),
    "xl twice as large": ("-m", "starter-xl", "--hires", "2"),
}


@pytest.fixture
def images(capsys, tmp_path):
    """Images made by the command."""

    def make(prompt, count, *words):
        how = ["--steps", "12", "--seed", "1", "--count", str(count), "-o", f"{tmp_path}/", "--json", *words]
        assert main(["generate", prompt, *how]) == 0
        return [Image.open(image["path"]) for image in json.loads(capsys.readouterr().out)["images"]]

    return make


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("words", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize(
    ("prompt", "truth"),
    [
        ("a red house by the sea at dusk", {"kind": "house", "colour": "red", "terrain": "sea", "time": "dusk"}),
        pytest.param(
            "a white lighthouse by the sea at night",
            {"kind": "lighthouse", "terrain": "sea", "time": "night"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "a yellow tent in the mountains at night",
            {"kind": "tent", "colour": "yellow", "time": "night"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_it_shows_what_the_words_say(images, prompt, truth, words):
    judge = load_judge(bundled_judge())
    with torch.inference_mode():
        verdicts = judge(pixels_of(images(prompt, 4, *words)))
    for attribute, value in truth.items():
        seen = [VALUES[attribute][int(index)] for index in verdicts[attribute].argmax(dim=1)]
        assert seen.count(value) >= 3, (attribute, seen)


@pytest.mark.slow
def test_night_is_dark(images):
    night, day = (
        np.mean([np.array(p).mean() for p in images(words, 2)]) for words in ("a house at night", "a house by day")
    )
    assert night < day / 2


@pytest.mark.slow
def test_a_second_pass_gives_more_detail_than_enlarging(images):
    words = "a yellow castle in the hills by day"
    enlarged = [p.resize((256, 256), Image.Resampling.LANCZOS) for p in images(words, 2, "-m", "starter-xl")]
    cascade = images(words, 2, "-m", "starter-xl", "--hires", "2")
    assert [p.size for p in cascade] == [(256, 256)] * 2
    assert sum(map(detail, cascade)) > 1.2 * sum(map(detail, enlarged))
