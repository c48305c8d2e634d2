"""Networks that see a mask and the masked image: bit for bit what diffusers' inpainting pipelines make with them."""

from dataclasses import replace

import numpy as np
import pytest
from flow_parity import generator, pipeline
from inpaint_requests import (
    HOLE,
    PROMPT,
    SIDE,
    again,
    engine,
    image,
    mask,
    outside,
    pixels,
    request_for,
    run,
    save_mask,
)
from PIL import Image
from tiny_sd15 import write_sd15_file, write_tiny_sd15
from tiny_sdxl import write_single_file, write_tiny_sdxl

from mezzotint.protocol import GenerateManyRequest, Inpaint, ModelRef, Sampling, Stage, Transition

pytestmark = pytest.mark.usefixtures("every_device")

__all__ = ["engine", "image", "mask", "request_for"]  # fixtures

PIPELINES = {"sd15": "StableDiffusionInpaintPipeline", "sdxl": "StableDiffusionXLInpaintPipeline"}
GUIDANCE = {"sd15": 7.5, "sdxl": 5.0}
STEPS = 5
FAMILIES = pytest.mark.parametrize("family", ["sd15", "sdxl"])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("inpaint")
    return {
        "sd15": write_tiny_sd15(root / "sd15", inpaint=True),
        "sdxl": write_tiny_sdxl(root / "sdxl", inpaint=True),
    }


def theirs(folder, family, init, hole, strength):
    made = pipeline(PIPELINES[family], folder)(
        PROMPT,
        image=init,
        mask_image=hole,
        width=SIDE,
        height=SIDE,
        strength=strength,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE[family],
        generator=generator(),
    )
    return np.array(made.images[0])


def agree(mine, expected, every_device):
    assert expected.std() > 1
    apart = np.abs(mine.astype(int) - expected)
    # Group norms on a card give up channels last, and round in another order: few numbers move by more than a shade.
    assert apart.max() <= (0 if every_device == "cpu" else 24) and apart.mean() < 1


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("strength", [1.0, 0.7])
@FAMILIES
def test_a_part_is_made_anew(engine, every_device, folders, request_for, image, mask, family, strength):
    init, hole = image(), mask()
    expected = theirs(folders[family], family, Image.open(init.path), Image.open(hole.path), strength)
    how = {"steps": STEPS, "strength": strength, "inpaint": Inpaint(feather=0)}
    result = pixels(run(engine, request_for(folders[family], init, hole, **how)).images[0])
    kept = outside(result.shape, HOLE)
    agree(result[~kept], expected[~kept], every_device)
    np.testing.assert_array_equal(result[kept], pixels(init.path)[kept])


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
@FAMILIES
def test_of_words_alone_all_is_hidden(engine, every_device, folders, request_for, family):
    hole = Image.new("L", (SIDE, SIDE), 255)
    expected = theirs(folders[family], family, Image.new("RGB", (SIDE, SIDE), "red"), hole, 1.0)
    agree(pixels(run(engine, request_for(folders[family], steps=STEPS)).images[0]), expected, every_device)


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_of_an_image_without_a_mask_all_is_hidden(engine, every_device, folders, request_for, image):
    init = image()
    expected = theirs(folders["sd15"], "sd15", Image.open(init.path), Image.new("L", (SIDE, SIDE), 255), 0.7)
    asked = request_for(folders["sd15"], init, steps=STEPS, strength=0.7)
    agree(pixels(run(engine, asked).images[0]), expected, every_device)


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
@FAMILIES
def test_one_file_is_the_same_model(engine, folders, request_for, image, mask, tmp_path, family):
    write = {"sd15": write_sd15_file, "sdxl": write_single_file}[family]
    file = write(folders[family], tmp_path / "model.safetensors")
    request = request_for(folders[family], image(), mask(), steps=2)
    again = request_for(file, *request.images, steps=2)
    np.testing.assert_array_equal(pixels(run(engine, request).images[0]), pixels(run(engine, again).images[0]))


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
@FAMILIES
def test_how_much_of_the_image_stays_where_nothing_is_said(engine, folders, request_for, image, mask, family):
    result = run(engine, request_for(folders[family], image(), mask(), steps=2))
    assert result.strength == {"sd15": 1.0, "sdxl": 0.99}[family]


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
@pytest.mark.parametrize("fill", ["original", "noise", "blur"])
def test_a_replay_is_the_same_image(engine, folders, request_for, image, mask, fill):
    asked = request_for(folders["sdxl"], image(), mask(), steps=3, inpaint=Inpaint(fill=fill))
    result = run(engine, asked)
    assert again(engine, result, asked) == result.images[0].sha256


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_the_mask_of_latents_is_that_of_their_first_pixels(engine, every_device, folders, request_for, image, tmp_path):
    init, hole = image(), save_mask(tmp_path, (15, 9, 47, 41), name="odd.png")
    expected = theirs(folders["sd15"], "sd15", Image.open(init.path), Image.open(hole.path), 1.0)
    how = {"steps": STEPS, "inpaint": Inpaint(feather=0)}
    result = pixels(run(engine, request_for(folders["sd15"], init, hole, **how)).images[0])
    inside = ~outside(result.shape, (15, 9, 47, 41))
    agree(result[inside], expected[inside], every_device)


@pytest.mark.slow
@pytest.mark.parametrize("second", ["same", "other"])
def test_a_second_pass_sees_the_image_too(engine, folders, tiny_sdxl_folder, request_for, image, mask, second):
    model = None if second == "same" else ModelRef(id=str(tiny_sdxl_folder))
    more = Stage(model=model, sampling=Sampling(steps=3))
    way = Transition(strength=0.6, scale=1.5, space="pixel")
    asked = request_for(folders["sd15"], image(), mask(), steps=2, stages=(more,), transitions=(way,))
    result = run(engine, asked)
    assert pixels(result.images[0]).shape == (96, 96, 3)
    assert run(engine, asked).images[0].sha256 == result.images[0].sha256


@pytest.mark.slow
@pytest.mark.parametrize("masked", [True, False])
@FAMILIES
def test_together_they_are_what_each_is_alone(engine, folders, request_for, image, mask, family, masked):
    asked = []
    for seed, (words, box) in enumerate((("a dog", HOLE), ("a red cat", (3, 5, 31, 37))), 1):
        shown = (image(f"{seed}.png", seed=seed), mask(box, name=f"mask-{seed}.png")) if masked else ()
        asked.append(replace(request_for(folders[family], *shown, steps=2), prompt=words, seed=seed))
    alone = [pixels(run(engine, each).images[0]).astype(int) for each in asked]
    made = engine.generate_many(GenerateManyRequest(requests=tuple(asked)), lambda _: None, lambda: False)
    for outcome, expected in zip(made.outcomes, alone, strict=True):
        assert outcome.result.together == 2
        np.testing.assert_allclose(pixels(outcome.result.images[0]).astype(int), expected, rtol=0, atol=2)
