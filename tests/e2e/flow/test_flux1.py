"""FLUX.1: bit for bit what the pipelines of diffusers make."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, request_of, same
from inpaint_requests import HOLE, save_mask, save_noise
from many_requests import check_as_alone, results, run_many
from PIL import Image
from tiny_flux1 import write_tiny_flux

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.families.flow.packing import packed
from mezzotint.families.flux1.family import Flux1
from mezzotint.protocol import Inpaint, Output

pytestmark = pytest.mark.usefixtures("every_device")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_flux(tmp_path_factory.mktemp("dev") / "FLUX.1-dev")


@pytest.fixture(scope="module")
def schnell(tmp_path_factory):
    return write_tiny_flux(tmp_path_factory.mktemp("schnell") / "FLUX.1-schnell", variant="schnell")


def test_dev(folder, tmp_path):
    made = pipeline("FluxPipeline", folder)(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=4, guidance_scale=3.5, generator=generator()
    )
    same(made.images[0], ours(folder, tmp_path, steps=4))


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_schnell(schnell, tmp_path):
    made = pipeline("FluxPipeline", schnell)(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=4, max_sequence_length=256, generator=generator()
    )
    same(made.images[0], ours(schnell, tmp_path))


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_undistilled_has_two_passes_and_no_embedded_guidance(tmp_path, monkeypatch):
    monkeypatch.setattr(Flux1, "spec", replace(Flux1.spec, halves=("sequential",)))  # as its pipeline
    folder = write_tiny_flux(tmp_path / "OpenFLUX.1", variant="undistilled")
    made = pipeline("FluxPipeline", folder)(
        PROMPT,
        negative_prompt=NEGATIVE,
        true_cfg_scale=4.0,
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        generator=generator(),
    )
    same(made.images[0], ours(folder, tmp_path, steps=4, guidance_scale=4.0, negative_prompt=NEGATIVE))


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_true_cfg_beside_distilled_guidance(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(Flux1, "spec", replace(Flux1.spec, halves=("sequential",)))  # as its pipeline
    made = pipeline("FluxPipeline", folder)(
        PROMPT,
        negative_prompt=NEGATIVE,
        true_cfg_scale=4.0,
        guidance_scale=2.5,
        height=SIDE,
        width=SIDE,
        num_inference_steps=2,
        generator=generator(),
    )
    fields = {"steps": 2, "guidance_scale": 2.5, "negative_prompt": NEGATIVE}
    mine = ours(folder, tmp_path, true_cfg_scale=4.0, **fields)
    same(made.images[0], mine)
    assert (mine != ours(folder, tmp_path, **fields)).any()


def test_fill(tmp_path):
    fill = write_tiny_flux(tmp_path / "FLUX.1-Fill-dev", variant="fill")
    image, mask = save_noise(tmp_path), save_mask(tmp_path)
    drawn = generator()
    noise = torch.randn(1, 16, SIDE // 8, SIDE // 8, generator=drawn)
    made = pipeline("FluxFillPipeline", fill)(
        PROMPT,
        image=Image.open(image.path),
        mask_image=Image.open(mask.path),
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        guidance_scale=30.0,
        latents=packed(noise),
        generator=drawn,
    )
    mine = ours(fill, tmp_path, images=(image, mask), inpaint=Inpaint(feather=0), steps=4)
    same(made.images[0].crop(HOLE), np.array(Image.fromarray(mine).crop(HOLE)))


@pytest.mark.slow
def test_fills_are_denoised_together(tmp_path):
    fill, engine = write_tiny_flux(tmp_path / "FLUX.1-Fill-dev", variant="fill"), Engine(Catalog.standard())
    requests = [
        request_of(
            fill,
            tmp_path,
            images=(save_noise(tmp_path, f"{seed}.png", seed=seed), save_mask(tmp_path, box, name=f"mask-{seed}.png")),
            output=Output(path=f"{tmp_path}/out/"),
            seed=seed,
            steps=2,
        )
        for seed, box in enumerate((HOLE, (3, 5, 31, 37)))
    ]
    made = results(run_many(engine, requests))
    assert [result.together for result in made] == [2, 2]
    check_as_alone(engine, requests, made, tmp_path)


def test_of_an_image(folder, tmp_path, every_device):
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    made = pipeline("FluxImg2ImgPipeline", folder)(
        PROMPT,
        image=Image.open(tmp_path / "init.png"),
        strength=0.5,
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        guidance_scale=5.0,
        generator=generator(),
    )
    mine = ours(folder, tmp_path, init=tmp_path / "init.png", strength=0.5, steps=4, guidance_scale=5.0)
    # A group norm on a card gives up channels last, which an encoded image has, and rounds in another order.
    same(made.images[0], mine, apart=every_device != "cpu")
