"""LoRAs trained here load in diffusers' pipelines, which then compute the same, in every naming that we write."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_flux1
import tiny_flux2
import tiny_z_image
import torch
from flow_parity import PROMPT, SIDE, generator, ours, pipeline
from safetensors.torch import load_file
from tiny_flow import qwen_tokenizer
from tiny_sd15 import write_tiny_sd15
from tiny_training import TinyTraining
from trained_adapters import predicted, read_back, trained, write
from training_runs import SETTINGS

from mezzotint.catalog.catalog import Catalog
from mezzotint.conversion.loras.merging import merge_loras
from mezzotint.conversion.loras.resizing import resize_lora
from mezzotint.families import tokenizers
from mezzotint.families.lora.description import Description
from mezzotint.families.text.clip_encode import clip_encoders
from mezzotint.jobs.training.run import TrainingRun
from mezzotint.protocol import LoraRef, ModelRef
from mezzotint.training.adapters.embedding import EmbeddingAdapter
from mezzotint.training_protocol import TrainingRequest

pytestmark = pytest.mark.requires_package("peft")

MODELS: dict[str, tuple[Any, str, dict[str, Any], dict[str, Any]]] = {
    "sd15": (write_tiny_sd15, "StableDiffusionPipeline", {"guidance_scale": 5.0}, {"guidance_scale": 5.0}),
    "sdxl": ("tiny_sdxl_folder", "StableDiffusionXLPipeline", {"guidance_scale": 5.0}, {"guidance_scale": 5.0}),
    "pixart": (
        "tiny_pixart_folder",
        "PixArtSigmaPipeline",
        {"guidance_scale": 5.0, "use_resolution_binning": False},
        {"guidance_scale": 5.0},
    ),
    "flux": (tiny_flux1.write_tiny_flux, "FluxPipeline", {"guidance_scale": 3.5}, {}),
    "z-image": (tiny_z_image.write_tiny_z_image, "ZImagePipeline", {"guidance_scale": 0.0}, {"guidance_scale": 1.0}),
    "flux2-klein": (tiny_flux2.write_tiny_klein, "Flux2KleinPipeline", {"guidance_scale": 1.0}, {}),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    """A tiny model's folder, its pipeline, and how each makes an image."""
    build, name, theirs, mine = MODELS[request.param]
    folder = (
        request.getfixturevalue(build)
        if isinstance(build, str)
        else build(tmp_path_factory.mktemp(request.param) / f"tiny-{request.param}")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)
        yield folder, pipeline(name, folder), theirs, mine


def load(theirs, path):
    """Load a LoRA as diffusers does; it has no loader for PixArt, whose LoRAs are loaded by peft alone."""
    if hasattr(theirs, "load_lora_weights"):
        theirs.load_lora_weights(path)
        return
    from peft import LoraConfig, inject_adapter_in_model, set_peft_model_state_dict

    tensors = {name.removeprefix("transformer."): each for name, each in load_file(path).items()}
    layers = sorted({name.partition(".lora_")[0] for name in tensors})
    rank = next(len(each) for name, each in tensors.items() if ".lora_A." in name)
    config = LoraConfig(r=rank, lora_alpha=rank, target_modules=layers)
    inject_adapter_in_model(config, theirs.transformer)
    set_peft_model_state_dict(theirs.transformer, {f"base_model.model.{name}": each for name, each in tensors.items()})


def unload(theirs):
    """Put a pipeline's networks back, if that is possible."""
    if hasattr(theirs, "unload_lora_weights"):
        theirs.unload_lora_weights()


def check(model, tmp_path, adapter_of=lambda tiny: tiny.adapter()):
    """Train, write, and compare what is computed: by ours attached, ours with the file, theirs."""
    folder, theirs, how, here = model
    tiny = TinyTraining(folder, images=2)
    trainer = trained(tiny, adapter_of(tiny))
    path = write(tiny, trainer.adapter, tmp_path / "a.safetensors")
    plain = predicted(tiny)
    with trainer.adapter.attached():
        attached = predicted(tiny)
    read_back(tiny, path)
    read = predicted(tiny)
    load(theirs, path)
    try:
        loaded = predicted(tiny, theirs)
        image = theirs(
            prompt=PROMPT,
            height=SIDE,
            width=SIDE,
            num_inference_steps=2,
            generator=generator(),
            output_type="np",
            **how,
        ).images[0]
    finally:
        unload(theirs)
    assert (attached - plain).abs().max() > 0.01 * plain.abs().max()
    for other in (read, loaded):
        torch.testing.assert_close(other, attached, rtol=1e-4, atol=1e-4 * float(plain.abs().max()))
    made = ours(folder, tmp_path, steps=2, loras=(LoraRef(path=str(path)),), **here).astype(int)
    assert np.abs(made - ours(folder, tmp_path, steps=2, **here)).max() > 8
    assert np.abs(made - (image * 255).round()).max() <= 1


@pytest.mark.slow
def test_diffusers_computes_the_same_with_the_file(model, tmp_path):
    check(model, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["sdxl", "sd15"], indirect=True)
def test_of_convolutions_and_text_encoders_with_several_ranks(model, tmp_path):
    choice = {"layers": "all", "ranks": (("down_blocks", 2), ("resnets.0.conv1", 6))}
    check(model, tmp_path, lambda tiny: tiny.adapter(alpha=3, choice=choice, text=True))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["flux"], indirect=True)
def test_a_dora(model, tmp_path):
    """diffusers drops the magnitudes of kohya's names (`dora_scale`), so there are none of U-Nets there."""
    check(model, tmp_path, lambda tiny: tiny.adapter(kind="dora", alpha=3, choice={"layers": "all"}))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("model", ["sdxl", "sd15"], indirect=True)
def test_a_word(model, tmp_path):
    """An embedding, which diffusers loads by encoder, and reads as its vectors in order."""
    folder, theirs, how, here = model
    tiny = TinyTraining(folder, images=2)
    encoders = clip_encoders(tiny.model.tokenizers, tiny.model.networks)
    trainer = trained(tiny, EmbeddingAdapter(encoders, "zibble", initial="castle", vectors=2))
    path = tmp_path / "zibble.safetensors"
    trainer.adapter.write(path, tiny.family.name, Description(title="zibble"), overwrite=False)
    parts = ({"clip_l": "", "clip_g": "_2"} if tiny.family.name == "sdxl" else {"emb_params": ""}).items()
    for key, number in parts:
        encoder, tokenizer = getattr(theirs, f"text_encoder{number}"), getattr(theirs, f"tokenizer{number}")
        vectors = {"zibble": load_file(path)[key]}
        theirs.load_textual_inversion(vectors, token="zibble", text_encoder=encoder, tokenizer=tokenizer)
    image = theirs(
        prompt="a zibble",
        height=SIDE,
        width=SIDE,
        num_inference_steps=2,
        generator=generator(),
        output_type="np",
        **how,
    ).images[0]
    plain, made = (
        ours(folder, tmp_path, steps=2, prompt="a zibble", embeddings=files, **here).astype(int)
        for files in ((), (str(path),))
    )
    assert np.abs(made - plain).max() > 8
    assert np.abs(made - (image * 255).round()).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("model", ["sdxl", "sd15"], indirect=True)
def test_a_model_made_fast(model, tmp_path):
    """The LoRA of `--distill` makes the same image by the scheduler that diffusers has for it."""
    from diffusers import LCMScheduler

    folder, theirs, _, _ = model
    (tmp_path / "prompts.txt").write_text(PROMPT)
    settings = replace(SETTINGS, distill=2, steps=3, batch=2, rank=4, rate=3e-2, regularization=None)
    request = TrainingRequest(
        dataset=str(tmp_path / "prompts.txt"),
        model=ModelRef(id=str(folder)),
        name="fast",
        output=str(tmp_path),
        settings=settings,
    )
    path = TrainingRun(request, Catalog.standard(), lambda _: None, lambda: False).run().lora
    own = theirs.scheduler
    theirs.scheduler = LCMScheduler.from_config(own.config, clip_sample=False)
    load(theirs, path)
    try:
        image = theirs(
            prompt=PROMPT,
            height=SIDE,
            width=SIDE,
            num_inference_steps=4,
            guidance_scale=1.0,
            generator=generator(),
            output_type="np",
        ).images[0]
    finally:
        unload(theirs)
        theirs.scheduler = own
    how = {"steps": 4, "guidance_scale": 1.0, "sampler": "lcm"}
    made = ours(folder, tmp_path, loras=(LoraRef(path=path),), **how).astype(int)
    assert np.abs(made - ours(folder, tmp_path, **how)).max() > 8
    assert np.abs(made - (image * 255).round()).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("rewritten", ["merged", "resized"])
@pytest.mark.parametrize("model", ["sdxl"], indirect=True)
def test_rewritten_with_layers_of_several_ranks(model, tmp_path, rewritten):
    """diffusers loses the alphas of a file whose layers have several."""
    folder, theirs, _, _ = model
    tiny = TinyTraining(folder, images=2)
    files = [
        write(tiny, trained(tiny, tiny.adapter(alpha=alpha, choice=choice)).adapter, tmp_path / f"{alpha}.safetensors")
        for alpha, choice in ((3, {"ranks": (("down_blocks", 2),)}), (5, {"ranks": (("mid_block", 0),)}))
    ]
    path = tmp_path / "made.safetensors"
    if rewritten == "merged":
        merge_loras([(files[0], 1.0), (files[1], 0.6)], path)
    else:
        resize_lora(files[0], path, keep=0.9)
    assert len({tensor.shape[0] for name, tensor in load_file(path).items() if "lora_down" in name}) > 1
    plain = predicted(tiny)
    adapters = read_back(tiny, path)
    read = predicted(tiny)
    adapters.let_go()
    load(theirs, path)
    try:
        loaded = predicted(tiny, theirs)
    finally:
        unload(theirs)
    assert (read - plain).abs().max() > 0.01 * plain.abs().max()
    torch.testing.assert_close(loaded, read, rtol=1e-4, atol=1e-4 * float(plain.abs().max()))
