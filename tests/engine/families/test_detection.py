"""What a checkpoint is told to be: real folders and files of small models, and configs as they are published."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mezzotint.checkpoints.folder import Component, FolderCheckpoint
from mezzotint.checkpoints.header import Header, TensorSpec
from mezzotint.checkpoints.opening import FileCheckpoint, open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.protocol import ModelDefaults

UNET = "model.diffusion_model."
FIRST = "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight"
SECOND = "conditioner.embedders.1.model.text_projection"


def component(name, class_name, **config):
    return Component(name=name, library="", class_name=class_name, config=config, folder=Path(name), files=())


def folder(name="model", pipeline="StableDiffusionXLPipeline", scheduler="EulerDiscreteScheduler", **changes):
    """A folder as published, with `changes` to the configurations of its components by name; None leaves one out."""
    parts = {
        "unet": component("unet", "UNet2DConditionModel", sample_size=128, in_channels=4),
        "transformer": component("transformer", "PixArtTransformer2DModel", sample_size=128),
        "vae": component("vae", "AutoencoderKL", block_out_channels=[128, 256, 512, 512]),
        "text_encoder": component("text_encoder", "CLIPTextModel"),
        "scheduler": component("scheduler", scheduler, prediction_type="epsilon", timestep_spacing="leading"),
    }
    settings = changes.pop("settings", {})
    changes["scheduler"] = changes.pop("scheduler_says", {})
    for key, change in changes.items():
        if change is None:
            del parts[key]
        else:
            parts[key] = replace(parts[key], config={**parts[key].config, **change})
    return FolderCheckpoint(
        path=Path(name), pipeline_class=pipeline, components=parts, bytes=0, settings=settings, options={}
    )


def sd15_folder(name="model", pipeline="StableDiffusionPipeline", scheduler="PNDMScheduler", **changes):
    """Stable Diffusion 1.5 as published."""
    unet = {"sample_size": 64, "cross_attention_dim": 768, **(changes.pop("unet", None) or {})}
    return folder(name, pipeline, scheduler, unet=unet, **changes)


def sd15_file(name="model.safetensors", channels=4, extra=()):
    """The same as one file."""
    words = "cond_stage_model.transformer.text_model.embeddings.token_embedding.weight"
    shapes = {UNET + "input_blocks.0.0.weight": (320, channels, 3, 3)}
    shapes |= dict.fromkeys((words, "first_stage_model.decoder.conv_in.weight", *extra), (1, 1))
    specs = {key: TensorSpec(dtype="F16", shape=shape, start=0, end=0) for key, shape in shapes.items()}
    header = Header(path=Path(name), tensors=specs, metadata={}, bytes=0)
    return FileCheckpoint(path=Path(name), header=header, bytes=0)


def file(name="model.safetensors", metadata=None, channels=4, refiner=False, extra=()):
    encoders = ["conditioner.embedders.0.model.text_projection"] if refiner else [FIRST, SECOND]
    names = [UNET + "label_emb.0.0.weight", "first_stage_model.decoder.conv_in.weight", *encoders, *extra]
    shapes = {UNET + "input_blocks.0.0.weight": (320, channels, 3, 3)} | dict.fromkeys(names, (1, 1))
    specs = {key: TensorSpec(dtype="F16", shape=shape, start=0, end=0) for key, shape in shapes.items()}
    header = Header(path=Path(name), tensors=specs, metadata=metadata or {}, bytes=0)
    return FileCheckpoint(path=Path(name), header=header, bytes=0)


def summary(found):
    defaults = found.defaults
    return found.variant, defaults.width, defaults.steps, defaults.guidance_scale, found.sampler, found.schedule


# ---- models on disk


@pytest.mark.parametrize(
    ("fixture", "family", "variant", "side"),
    [
        ("tiny_sdxl_folder", "sdxl", "base", 64),
        ("tiny_refiner_folder", "sdxl", "refiner", 64),
        ("tiny_single_file", "sdxl", "base", 1024),
        ("tiny_refiner_file", "sdxl", "refiner", 1024),
        ("tiny_pixart_folder", "pixart", "sigma", 32),
    ],
)
def test_models_on_disk(request, fixture, family, variant, side):
    found = detect(open_checkpoint(request.getfixturevalue(fixture)))
    assert (found.family, found.variant, found.defaults.width, found.defaults.height) == (family, variant, side, side)
    assert (found.prediction_type, found.zero_terminal_snr) == ("epsilon", False)


def test_a_folder_says_for_itself_what_it_is_best_run_with(tiny_pixart_folder, tmp_path):
    path = shutil.copytree(tiny_pixart_folder, tmp_path / "model")
    said = {"variant": "alpha", "defaults": {"width": 96, "steps": 7, "guidance_scale": 3, "sampler": "dpmpp_2m"}}
    (path / "mezzotint.json").write_text(json.dumps(said))
    found = detect(open_checkpoint(path))
    assert found.defaults == ModelDefaults(width=96, height=32, steps=7, guidance_scale=3.0)
    assert (found.variant, found.sampler, found.schedule) == ("alpha", "dpmpp_2m", None)


# ---- folders

TRAILING = {"timestep_spacing": "trailing"}
TURBO = "models--stabilityai--sdxl-turbo/snapshots/71153311d3dbb46851df1931d3ca6e939de83304"


@pytest.mark.parametrize(
    ("checkpoint", "expected"),
    [
        (folder(), ("base", 1024, 30, 5.0, None, None)),
        (
            folder(pipeline="StableDiffusionXLImg2ImgPipeline", text_encoder=None),
            ("refiner", 1024, 30, 5.0, None, None),
        ),
        (folder(TURBO, unet={"sample_size": 64}), ("turbo", 512, 4, 1.0, "euler_a", "sgm_uniform")),
        (
            folder(scheduler="EulerAncestralDiscreteScheduler", unet={"sample_size": 64}, scheduler_says=TRAILING),
            ("turbo", 512, 4, 1.0, None, None),
        ),
        (folder("sdxl-lightning-8step"), ("lightning", 1024, 8, 1.0, "euler", "sgm_uniform")),
        (folder("lightning", scheduler_says=TRAILING), ("lightning", 1024, 4, 1.0, "euler", "sgm_uniform")),
        (folder("finetune", scheduler_says=TRAILING), ("base", 1024, 30, 5.0, None, None)),
        (folder(scheduler="LCMScheduler"), ("lcm", 1024, 4, 1.0, None, None)),
        (
            folder(scheduler="LCMScheduler", unet={"time_cond_proj_dim": 256}),
            ("lcm", 1024, 4, 8.0, None, None),
        ),
        (folder(unet={"sample_size": None}), ("base", 1024, 30, 5.0, None, None)),
        (
            folder(pipeline="StableDiffusionXLInpaintPipeline", unet={"in_channels": 9}),
            ("inpaint", 1024, 30, 5.0, None, None),
        ),
        (folder(pipeline="StableDiffusionXLInpaintPipeline"), ("base", 1024, 30, 5.0, None, None)),
    ],
)
def test_folders(checkpoint, expected):
    assert summary(detect(checkpoint)) == expected


@pytest.mark.parametrize(
    ("checkpoint", "expected"),
    [
        (sd15_folder(), ("base", 512, 30, 7.5, None, None)),
        (sd15_folder(unet={"sample_size": None}), ("base", 512, 30, 7.5, None, None)),
        (sd15_folder(pipeline="StableDiffusionImg2ImgPipeline"), ("base", 512, 30, 7.5, None, None)),
        (
            sd15_folder(pipeline="StableDiffusionInpaintPipeline", unet={"in_channels": 9}),
            ("inpaint", 512, 30, 7.5, None, None),
        ),
        (sd15_folder(scheduler="LCMScheduler"), ("lcm", 512, 4, 1.0, None, None)),
        (
            sd15_folder(pipeline="LatentConsistencyModelPipeline", unet={"time_cond_proj_dim": 256}),
            ("lcm", 512, 4, 8.0, "lcm", None),
        ),
        (sd15_file("dreamshaper_8.safetensors"), ("base", 512, 30, 7.5, None, None)),
        (sd15_file("dreamshaper_8LCM.safetensors"), ("lcm", 512, 4, 1.0, "lcm", None)),
        (sd15_file("sd-v1-5-inpainting.safetensors", channels=9), ("inpaint", 512, 30, 7.5, None, None)),
        (sd15_file("photon_lcm.safetensors"), ("lcm", 512, 4, 1.0, "lcm", None)),
        (sd15_file("Hyper-SD15-4step.safetensors"), ("lightning", 512, 4, 1.0, "euler", "sgm_uniform")),
    ],
)
def test_stable_diffusion_1(checkpoint, expected):
    found = detect(checkpoint)
    assert (found.family, summary(found)) == ("sd15", expected)


def test_a_trailing_schedule_of_pure_noise_is_no_sign_of_distillation():
    says = {**TRAILING, "prediction_type": "v_prediction", "rescale_betas_zero_snr": True}
    found = detect(folder(scheduler_says=says))
    assert (found.variant, found.prediction_type, found.zero_terminal_snr) == ("base", "v_prediction", True)


@pytest.mark.parametrize(
    ("pipeline", "scheduler", "prediction", "expected"),
    [
        ("PixArtAlphaPipeline", "DPMSolverMultistepScheduler", "epsilon", ("alpha", 1024, 20, 4.5, None, None)),
        ("PixArtSigmaPipeline", "DPMSolverMultistepScheduler", "flow_prediction", ("sigma", 1024, 20, 4.5, None, None)),
        ("PixArtAlphaPipeline", "LCMScheduler", "epsilon", ("alpha", 1024, 4, 1.0, None, None)),
    ],
)
def test_pixart_folders(pipeline, scheduler, prediction, expected):
    found = detect(folder(pipeline=pipeline, scheduler=scheduler, scheduler_says={"prediction_type": prediction}))
    assert summary(found) == expected
    assert (found.family, found.prediction_type) == ("pixart", prediction)


@pytest.mark.parametrize(
    ("checkpoint", "message"),
    [
        (
            folder(pipeline="MarigoldDepthPipeline"),
            "a model for MarigoldDepthPipeline cannot be run. What can be run: SDXL",
        ),
        (folder(unet=None), "incomplete: the StableDiffusionXLPipeline has no unet"),
        (folder(unet={"in_channels": 8}), "an instruction-editing SDXL model"),
        (sd15_folder(unet={"in_channels": 8}), "an instruction-editing Stable Diffusion model"),
        (sd15_folder(unet={"cross_attention_dim": 1024}), "a Stable Diffusion 2 model cannot be run"),
        (folder(scheduler_says={"prediction_type": "sample"}), "predicts sample; networks that predict epsilon"),
        (folder(scheduler="EDMEulerScheduler"), "EDM noise"),
        (folder(settings={"variant": "huge\n"}), r"its variant is huge\\n; sdxl models are one of base, refiner"),
    ],
)
def test_folders_that_are_refused(checkpoint, message):
    with pytest.raises(ModelRefused, match=message) as caught:
        detect(checkpoint)
    assert "\n" not in str(caught.value)


# ---- single files


@pytest.mark.parametrize(
    ("checkpoint", "expected"),
    [
        (file("sd_xl_base_1.0.safetensors"), ("base", 1024, 30, 5.0, None, None)),
        (file("sd_xl_refiner_1.0.safetensors", refiner=True), ("refiner", 1024, 30, 5.0, None, None)),
        (file("sd_xl_turbo_1.0_fp16.safetensors"), ("turbo", 512, 4, 1.0, "euler_a", "sgm_uniform")),
        (file("other_turbo.safetensors"), ("turbo", 1024, 4, 1.0, "euler_a", "sgm_uniform")),
        (
            file("a.safetensors", {"modelspec.title": "X Lightning 8-step", "modelspec.resolution": "768x768"}),
            ("lightning", 768, 8, 1.0, "euler", "sgm_uniform"),
        ),
        (file(extra=[UNET + "time_embed.cond_proj.weight"]), ("lcm", 1024, 4, 8.0, "lcm", None)),
        (file(metadata={"modelspec.resolution": "9999x9999"}), ("base", 1024, 30, 5.0, None, None)),
        (file(metadata={"modelspec.resolution": "832x1216"}), ("base", 1024, 30, 5.0, None, None)),
    ],
)
def test_files(checkpoint, expected):
    assert summary(detect(checkpoint)) == expected


@pytest.mark.parametrize(
    ("checkpoint", "prediction", "zero_snr"),
    [
        (file(), "epsilon", False),
        (file(extra=["v_pred"]), "v_prediction", False),
        (file(extra=["v_pred", "ztsnr"]), "v_prediction", True),
        (file(metadata={"modelspec.prediction_type": "v"}), "v_prediction", False),
        (file(metadata={"ss_v_parameterization": "True", "ss_zero_terminal_snr": "True"}), "v_prediction", True),
        (file(metadata={"ss_v_parameterization": "False", "ss_zero_terminal_snr": "None"}), "epsilon", False),
        (file("NoobAI-XL-Vpred-v1.0.safetensors"), "v_prediction", False),
        (file("noobaiXLNAIXL_vPred10Version.safetensors"), "v_prediction", False),
        (file("x-vpred.safetensors", {"modelspec.prediction_type": "epsilon"}), "epsilon", False),
        (file("improvpredator.safetensors"), "epsilon", False),
        (file("mix-no-v-pred.safetensors"), "epsilon", False),
        (file("notVpred.safetensors"), "epsilon", False),
    ],
)
def test_how_files_say_what_they_predict(checkpoint, prediction, zero_snr):
    found = detect(checkpoint)
    assert (found.prediction_type, found.zero_terminal_snr) == (prediction, zero_snr)


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [
        (file("realistic_turbodiesel.safetensors"), ()),
        (file("withoutLightning.safetensors"), ()),
        (
            file("Lightning McQueen mix.safetensors"),
            (
                "lightning with 4 steps at guidance 1 is assumed, from 'lightning' in its name; --steps, --guidance, "
                "--sampler overrides it",
            ),
        ),
        (
            file("mix.safetensors", {"modelspec.title": "Mix v-pred"}),
            ("v_prediction is assumed, from 'v pred' in its name; --prediction-type overrides it",),
        ),
        (file("vpred.safetensors", extra=["v_pred"]), ()),
    ],
)
def test_what_only_a_name_says_is_a_guess(checkpoint, said):
    assert detect(checkpoint).notices == said


def test_a_yaml_beside_a_file_goes_before_its_name_and_after_its_metadata(tmp_path):
    (tmp_path / "m.yaml").write_text("model: {params: {parameterization: v}}")
    found = detect(replace(file(), path=tmp_path / "m.safetensors"))
    assert (found.prediction_type, found.prediction_reason) == ("v_prediction", "m.yaml beside it")
    assert found.notices == ("v_prediction is assumed, from m.yaml beside it; --prediction-type overrides it",)
    found = detect(replace(file(metadata={"modelspec.prediction_type": "epsilon"}), path=tmp_path / "m.safetensors"))
    assert (found.prediction_type, found.prediction_reason) == ("epsilon", "its metadata, modelspec.prediction_type")
    assert found.notices == (
        "not used: the prediction type in m.yaml, because of its metadata, modelspec.prediction_type",
    )


@pytest.mark.parametrize(
    ("checkpoint", "message"),
    [
        (file(channels=8), "an instruction-editing SDXL model"),
        (sd15_file(channels=8), "an instruction-editing Stable Diffusion model"),
        (file(extra=["edm_mean", "edm_std"]), "EDM noise"),
        (file("sdxl_lightning_1step_x0.safetensors"), r"predict the image \(x0\)"),
        (file(extra=[UNET + "out.2.weight_scale"]), "already quantized"),
    ],
)
def test_files_that_are_refused(checkpoint, message):
    with pytest.raises(ModelRefused, match=message):
        detect(checkpoint)


def without(checkpoint, *prefixes):
    tensors = {name: spec for name, spec in checkpoint.header.tensors.items() if not name.startswith(prefixes)}
    return replace(checkpoint, header=replace(checkpoint.header, tensors=tensors))


@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        (["first_stage_model."], r"lacks its VAE \(first_stage_model"),
        (["conditioner."], "an SDXL UNet alone cannot be run by itself"),
        (["conditioner.embedders.0."], "lacks its first text encoder"),
        ([UNET, "conditioner."], "a VAE cannot be run by itself"),
    ],
)
def test_parts_of_a_checkpoint_are_refused_by_name(prefixes, message):
    with pytest.raises(ModelRefused, match=message) as caught:
        detect(without(file(), *prefixes))
    assert "What can be run" in str(caught.value)


@pytest.mark.parametrize(
    ("checkpoint", "message"),
    [
        (without(sd15_file(), "first_stage_model."), "a Stable Diffusion 1 model that lacks its VAE"),
        (without(sd15_file(), UNET), r"lacks its UNet \(model.diffusion_model"),
        (sd15_file(extra=["control_model.input_blocks.0.0.weight"]), "a ControlNet cannot be run by itself"),
        (without(sd15_file(extra=["cond_stage_model.model.ln_final.bias"]), "cond_stage_model.t"), "Diffusion 2 model"),
    ],
)
def test_what_is_no_whole_stable_diffusion_1_is_refused_by_name(checkpoint, message):
    with pytest.raises(ModelRefused, match=message):
        detect(checkpoint)
