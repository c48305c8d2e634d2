"""Guidance between two parts of the schedule only: as diffusers does it, from the window to the metadata."""

import copy

import numpy as np
import pytest
import torch
from PIL import Image
from recorded_again import read_metadata

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli.entry import run
from mezzotint.engine import Engine
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage

PROMPT, NEGATIVE, SEED, SIDE, STEPS = "a red house", "rain", 7, 64, 6


def made(folder, tmp_path, name="a.png", **sampling) -> np.ndarray:
    how = Sampling(**{"steps": STEPS, "guidance_scale": 5.0} | sampling)
    stage = Stage(model=ModelRef(id=str(folder)), width=SIDE, height=SIDE, sampling=how)
    request = GenerateRequest(
        prompt=PROMPT,
        negative_prompt=NEGATIVE,
        cascade=Cascade(stages=(stage,)),
        seed=SEED,
        attention="sdpa",
        dtype="float32",
        output=Output(path=str(tmp_path / name)),
    )
    result = Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)
    assert result.stages[0].cfg_interval == how.cfg_interval
    return np.array(Image.open(result.images[0].path))


@pytest.mark.usefixtures("every_device")
def test_the_same_as_diffusers_whose_guidance_is_switched_off(tiny_sdxl_folder, tmp_path):
    from diffusers import StableDiffusionXLPipeline

    pipeline = StableDiffusionXLPipeline.from_pretrained(tiny_sdxl_folder, torch_dtype=torch.float32)
    pipeline.unet, pipeline.vae = copy.deepcopy(pipeline.unet), copy.deepcopy(pipeline.vae)

    def after(pipe, step, timestep, tensors):
        if step + 1 == 3:  # of the timesteps 831, 665, 499, 333, 167 and 1, the first three lie in that part
            pipe._guidance_scale = 1.0
            return {name: each[1:] for name, each in tensors.items()}
        return tensors

    theirs = pipeline(
        PROMPT,
        negative_prompt=NEGATIVE,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=5.0,
        generator=torch.Generator("cpu").manual_seed(SEED),
        callback_on_step_end=after,
        callback_on_step_end_tensor_inputs=["prompt_embeds", "add_text_embeds", "add_time_ids"],
    ).images[0]
    mine = made(tiny_sdxl_folder, tmp_path, cfg_interval=(0.0, 0.6))
    assert mine.std() > 1
    np.testing.assert_array_equal(np.array(theirs), mine)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    ("interval", "guided"),
    [(None, "......"), ((0.0, 1.0), "......"), ((0.4, 0.7), "  ..  "), ((0.2, 0.3), "      ")],
)
def test_steps_outside_are_asked_for_the_prompt_alone(tiny_sdxl_folder, tmp_path, monkeypatch, interval, guided):
    seen, predict = [], Sdxl.predict

    def watched(self, model, sample, timestep, conditioning):
        seen.append(conditioning)
        return predict(self, model, sample, timestep, conditioning)

    monkeypatch.setattr(Sdxl, "predict", watched)
    made(tiny_sdxl_folder, tmp_path, cfg_interval=interval)
    assert "".join("." if each.guided else " " for each in seen) == guided
    assert {each.tensors["text"].shape[0] for each in seen if not each.guided} <= {1}


@pytest.mark.slow
def test_no_step_inside_is_no_guidance_at_all(tiny_sdxl_folder, tmp_path):
    whole = made(tiny_sdxl_folder, tmp_path)
    outside = made(tiny_sdxl_folder, tmp_path, cfg_interval=(0.2, 0.3))
    without = made(tiny_sdxl_folder, tmp_path, guidance_scale=1.0)
    np.testing.assert_array_equal(outside, without)
    assert not np.array_equal(whole, outside)
    np.testing.assert_array_equal(whole, made(tiny_sdxl_folder, tmp_path, cfg_interval=(0.0, 1.0)))


def test_from_the_command_line_to_the_metadata_and_back(tiny_sdxl_folder, tmp_path, capsys):
    words = ["generate", PROMPT, "-m", str(tiny_sdxl_folder), "--size", "64x64", "--steps", "3", "--seed", "7"]
    assert run([*words, "--cfg-interval", "0.2:0.8", "-o", str(tmp_path / "a.png")]) == 0
    request = read_metadata(tmp_path / "a.png").request
    assert request.cascade.stages[0].sampling.cfg_interval == (0.2, 0.8)
    assert run(["generate", "--from", str(tmp_path / "a.png"), "-o", str(tmp_path / "b.png")]) == 0
    assert np.array_equal(Image.open(tmp_path / "a.png"), Image.open(tmp_path / "b.png"))
    assert run([*words, "--cfg-interval", "0.8:0.2"]) == 2
    assert "START:END" in capsys.readouterr().err


@pytest.mark.requires_package("PySide6")
def test_the_window_asks_for_it_shows_it_and_copies_it_as_a_command(tmp_path, qapp, qtbot):
    from create_page import kit_of, page_of, typed

    from mezzotint_app.viewmodel.create.command_line import command_line

    for kit in kit_of(tmp_path):
        page = page_of(kit, qtbot)
        control = page.sections.sampling.controls["cfg_interval"]
        assert control.value() == (0.0, 1.0)
        typed(control.end, "0.7")
        typed(control.start, "0.2")
        request = kit.create.request()
        assert request.cascade.stages[0].sampling.cfg_interval == (0.2, 0.7)
        words = command_line(request).words
        assert words[words.index("--cfg-interval") + 1] == "0.2:0.7"
        typed(control.start, "0.9")  # the end gives way
        assert kit.create.request().cascade.stages[0].sampling.cfg_interval == (0.9, 0.95)
