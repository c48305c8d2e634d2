"""Inpainting with the bundled models: what is painted is what the words say, and seams do not show."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from inpaint_requests import engine, pixels, request_for, run
from PIL import Image, ImageDraw

from mezzotint.benchmarks.postcards.judge import bundled_judge, load_judge, pixels_of
from mezzotint.benchmarks.postcards.world import COLOURS, KINDS
from mezzotint.protocol import (
    ImageInput,
    Inpaint,
)

pytestmark = pytest.mark.usefixtures("every_device")

__all__ = ["engine", "request_for"]  # fixtures


@pytest.mark.slow
@pytest.mark.parametrize("model", ["starter-dit", "starter-xl"])
def test_another_house_in_the_same_place(engine, request_for, tmp_path, model):
    """What is painted over with other words is what they say, and all around it stays."""
    first = run(engine, request_for(model, size=None, steps=12))
    hole = Image.new("L", (128, 128))
    ImageDraw.Draw(hole).rectangle((12, 36, 115, 119), fill=255)
    hole.save(tmp_path / "hole.png")
    images = (ImageInput(path=first.images[0].path), ImageInput(path=str(tmp_path / "hole.png"), role="mask"))
    request = request_for(model, *images, size=None, steps=12, count=4, inpaint=Inpaint(fill="noise"))
    request = replace(request, prompt="a yellow tent by the sea at dusk")
    made = run(engine, request).images
    kept = np.asarray(hole) == 0
    for image in made:
        np.testing.assert_array_equal(pixels(image)[kept], pixels(first.images[0])[kept])
    judge = load_judge(bundled_judge())
    with torch.inference_mode():
        verdicts = judge(pixels_of([Image.open(image.path) for image in made]))
    assert [KINDS[int(i)] for i in verdicts["kind"].argmax(dim=1)].count("tent") >= 3
    assert [COLOURS[int(i)] for i in verdicts["colour"].argmax(dim=1)].count("yellow") >= 3


@pytest.mark.slow
@pytest.mark.parametrize("area", ["whole", "masked"])
def test_new_parts_go_on_from_the_old_without_a_step(engine, request_for, area):
    """The rows of pixels at the seam differ no more than rows elsewhere do."""
    first = run(engine, request_for("starter-xl", size=None, steps=12))
    inpaint = Inpaint(area=area, right=64, padding=64)
    image = ImageInput(path=first.images[0].path)
    grown = run(engine, request_for("starter-xl", image, size=None, steps=12, inpaint=inpaint, count=2)).images
    for made in grown:
        steps = np.abs(np.diff(pixels(made).astype(float), axis=1)).mean(axis=(0, 2))
        assert steps.shape == (191,)
        assert steps[118:130].max() < 2 * np.quantile(steps, 0.95)
