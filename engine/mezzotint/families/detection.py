"""Detects the family, variant and defaults of a checkpoint from names, shapes and configs alone."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mezzotint.checkpoints.folder import Component, FolderCheckpoint, published_name
from mezzotint.checkpoints.foreign_kind import gguf_advice
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import is_gguf
from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.table import Architecture, read_architecture
from mezzotint.families.checkpoint_yaml import yaml_beside
from mezzotint.families.detected import Detected, variant_guess
from mezzotint.families.distilled import LcmUnet, Recipe, recipe_of
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.foreign import is_sd15, missing_parts, why_not_whole
from mezzotint.families.foreign_models import foreign_model, resembling_model
from mezzotint.families.known import FLOW_FAMILIES, family_of, supported
from mezzotint.families.loading.added_parts import whole_header
from mezzotint.families.loading.folder_quantization import check_quantization
from mezzotint.families.loading.stored_layers import logical_header
from mezzotint.families.name_words import words_of
from mezzotint.families.prediction import Prediction, prediction_of_file, unfollowed
from mezzotint.parsed import Guess
from mezzotint.protocol import ModelDefaults, PredictionType

_SDXL_PIPELINES = (
    "StableDiffusionXLPipeline",
    "StableDiffusionXLImg2ImgPipeline",
    "StableDiffusionXLInpaintPipeline",
)
_SD15_PIPELINES = (
    "StableDiffusionPipeline",
    "StableDiffusionImg2ImgPipeline",
    "StableDiffusionInpaintPipeline",
    "LatentConsistencyModelPipeline",
)
_PIXART_PIPELINES = {"PixArtAlphaPipeline": "alpha", "PixArtSigmaPipeline": "sigma"}
_FEW_STEPS = ("turbo", "lightning", "lcm")
_VARIANTS = {
    "sdxl": ("base", "refiner", *_FEW_STEPS, "inpaint"),
    "sd15": ("base", *_FEW_STEPS, "inpaint"),
    "pixart": ("alpha", "sigma"),
}
_TITLES = {"sdxl": "SDXL", "sd15": "Stable Diffusion"}
_STEPS = 30
_GUIDANCE = {"sdxl": 5.0, "sd15": 7.5}
_SIDES = {"sdxl": 1024, "sd15": 512}
_SD2_WIDTH = 1024  # of Stable Diffusion 2's text embeddings
_INPAINT_CHANNELS, _EDIT_CHANNELS = 9, 8
_UNET = "model.diffusion_model."
_SCALES = (".weight_scale", ".comfy_quant", ".weight.absmax")
_LARGEST_SIDE = 4096  # latents
_MOST_LEVELS = 8


def detect(checkpoint: Checkpoint) -> Detected:
    """Detect what a checkpoint is; raises ModelRefused, naming what was found, if it cannot be run."""
    return _detect_file(checkpoint) if isinstance(checkpoint, FileCheckpoint) else _detect_folder(checkpoint)


# ---- folders in the diffusers layout


def family_of_pipeline(name: str) -> str:
    """Return the family of a pipeline that a model folder may name; empty if none has it."""
    if name in _SDXL_PIPELINES:
        return "sdxl"
    if name in _SD15_PIPELINES:
        return "sd15"
    if name in _PIXART_PIPELINES:
        return "pixart"
    return next((each.name for each in FLOW_FAMILIES if name in each.spec.pipelines), "")


def _detect_folder(folder: FolderCheckpoint) -> Detected:
    name = family_of_pipeline(folder.pipeline_class)
    if name in _SIDES:
        found = _unet_folder(folder, name)
    elif name == "pixart":
        found = _pixart_folder(folder)
    elif family := next((each for each in FLOW_FAMILIES if each.name == name), None):
        found = family.detect(folder)
    else:
        raise _refused(folder.path, f"a model for {plain(folder.pipeline_class)} cannot be run. {supported()}")
    for component in folder.components.values():
        check_quantization(component)
    return _with_settings(found, folder)


def _unet_folder(folder: FolderCheckpoint, family: str) -> Detected:
    unet = _config(folder, "unet")
    scheduler = _config(folder, "scheduler")
    if family == "sd15" and unet.get("cross_attention_dim") == _SD2_WIDTH:
        raise _refused(folder.path, f"a Stable Diffusion 2 model cannot be run. {supported()}")
    variant = _variant(folder.path, family, unet.get("in_channels"))
    noise = _noise_of_scheduler(folder, scheduler)
    side = _side(folder, unet, _SIDES[family])
    if family == "sdxl" and "text_encoder" not in folder.components:
        return _unet_model(family, "refiner", None, side, noise)
    recipe = recipe_of(published_name(folder.path), _hint(folder, noise), _lcm(unet))
    return _unet_model(family, variant, recipe, side, noise)


def _pixart_folder(folder: FolderCheckpoint) -> Detected:
    transformer = _config(folder, "transformer")
    architecture = _architecture(folder, transformer.get("architecture", {}))
    noise = _noise_of_scheduler(folder, _config(folder, "scheduler"))
    side = _side(folder, transformer, 1024)
    few = _class_of(folder, "scheduler") == "LCMScheduler"
    return Detected(
        family="pixart",
        variant=_PIXART_PIPELINES[folder.pipeline_class],
        defaults=ModelDefaults(width=side, height=side, steps=4 if few else 20, guidance_scale=1.0 if few else 4.5),
        prediction_type=noise.type,
        prediction_reason=noise.reason,
        zero_terminal_snr=noise.zero_snr,
        sampler=None,
        schedule=None,
        conditional_refiner=architecture.condition != "none",
    )


def _architecture(folder: FolderCheckpoint, value: object) -> Architecture:
    try:
        return read_architecture(value)
    except ModelRefused as error:
        raise ModelRefused(f"{plain(folder.path, 300)}: {error}") from error


def _component(folder: FolderCheckpoint, name: str) -> Component:
    component = folder.components.get(name)
    if component is None:
        raise _refused(folder.path, f"incomplete: the {plain(folder.pipeline_class)} has no {name}.")
    return component


def _config(folder: FolderCheckpoint, name: str) -> Mapping[str, object]:
    return _component(folder, name).config


def _class_of(folder: FolderCheckpoint, name: str) -> str:
    return _component(folder, name).class_name


def _noise_of_scheduler(folder: FolderCheckpoint, config: Mapping[str, object]) -> Prediction:
    class_name = _class_of(folder, "scheduler")
    if class_name.startswith("EDM"):
        raise _refused(folder.path, f"models trained on EDM noise ({class_name}) cannot be run. {supported()}")
    said = config.get("prediction_type", "epsilon")
    reason = "its scheduler's configuration" if "prediction_type" in config else "nothing says otherwise"
    zero_snr = config.get("rescale_betas_zero_snr") is True
    return Prediction(type=_prediction(folder.path, said), zero_snr=zero_snr, reason=reason)


def _prediction(path: Path, said: object) -> PredictionType:
    match said:
        case "epsilon" | "v_prediction" | "flow_prediction":
            return said
    known = "epsilon, v_prediction or flow_prediction"
    raise _refused(path, f"its network predicts {plain(said, 40)}; networks that predict {known} can be run.")


def _side(folder: FolderCheckpoint, network: Mapping[str, object], fallback: int) -> int:
    latent = network.get("sample_size")
    channels = _config(folder, "vae").get("block_out_channels")
    if not isinstance(latent, int) or latent <= 0 or not isinstance(channels, list | tuple):
        return fallback
    if latent > _LARGEST_SIDE or len(channels) > _MOST_LEVELS:
        sizes = f"sample_size {str(latent)[:20]} and {len(channels)} levels of its VAE"
        raise _refused(folder.path, f"{sizes}: its configuration is damaged.")
    side: int = latent * 2 ** (len(channels) - 1)
    return side


def _hint(folder: FolderCheckpoint, noise: Prediction) -> str | None:
    """The distilled variant that the scheduler suggests, or None.

    SDXL-Turbo is published with an ancestral sampler on trailing timesteps, which hardly any other model uses; plain
    Euler on trailing timesteps is common among models that need their full number of steps.
    """
    class_name = _class_of(folder, "scheduler")
    if class_name == "LCMScheduler":
        return "lcm"
    trailing = _config(folder, "scheduler").get("timestep_spacing") == "trailing"
    if not trailing or noise.zero_snr or noise.type != "epsilon":
        return None
    return "turbo" if class_name == "EulerAncestralDiscreteScheduler" else None


def _lcm(unet: Mapping[str, object]) -> LcmUnet:
    return "embeds_guidance" if unet.get("time_cond_proj_dim") is not None else "plain"


def _with_settings(found: Detected, folder: FolderCheckpoint) -> Detected:
    """Override what was detected with the folder's mezzotint.json, whose numbers are already validated."""
    variant = folder.settings.get("variant", found.variant)
    family = family_of(found.family)
    variants = tuple(family.spec.variants) if isinstance(family, FlowFamily) else _VARIANTS[found.family]
    if variant not in variants:
        known = ", ".join(variants)
        raise _refused(folder.path, f"its variant is {plain(variant)}; {found.family} models are one of {known}.")
    if isinstance(family, FlowFamily) and variant != found.variant:
        found = family.detected_as(str(variant))
    said = folder.settings.get("defaults")
    defaults = said if isinstance(said, Mapping) else {}
    numbers = {name: defaults[name] for name in ("width", "height", "steps") if name in defaults}
    guidance = float(defaults.get("guidance_scale", found.defaults.guidance_scale))
    return replace(
        found,
        variant=variant,
        defaults=replace(found.defaults, guidance_scale=guidance, **numbers),
        sampler=_text(defaults.get("sampler")) or found.sampler,
        schedule=_text(defaults.get("schedule")) or found.schedule,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


# ---- single files in the original naming


def _detect_file(file: FileCheckpoint) -> Detected:
    header = logical_header(file.header)
    if resembling := resembling_model(header.tensors):
        raise _refused(file.path, f"{resembling}, which cannot be run. {supported()}")
    for flow in FLOW_FAMILIES:
        if flow.is_in(file, header.tensors):
            return flow.detect(file)
    if is_gguf(file.path):
        foreign = foreign_model(header.tensors, header.metadata.get("general.architecture", ""))
        raise _refused(file.path, f"{foreign}, which cannot be run. {supported()}" if foreign else gguf_advice())
    header = whole_header(file)
    if missing := missing_parts(header.tensors):
        raise _refused(file.path, f"{why_not_whole(header.tensors, missing)} {supported()}")
    if scaled := next((name for name in header.tensors if name.endswith(_SCALES)), None):
        raise _refused(
            file.path, f"already quantized ({plain(scaled, 80)}); get it in float16 or bfloat16. {supported()}"
        )
    family = "sd15" if is_sd15(header.tensors) else "sdxl"
    kernel = header.tensors[_UNET + "input_blocks.0.0.weight"].shape
    variant = _variant(file.path, family, kernel[1] if len(kernel) == 4 else None)
    words = _file_words(file.path, header.metadata)
    beside = yaml_beside(file.path)
    noise = prediction_of_file(header, words, beside)
    refiner = family == "sdxl" and "conditioner.embedders.1.model.text_projection" not in header.tensors
    lcm: LcmUnet = "embeds_guidance" if _UNET + "time_embed.cond_proj.weight" in header.tensors else "plain"
    recipe = None if refiner else recipe_of(words, None, lcm)
    side = _side_of_file(header.metadata) or (recipe.side if recipe else None) or _SIDES[family]
    found = _unet_model(family, "refiner" if refiner else variant, recipe, side, noise)
    return replace(found, unused=unfollowed(beside, noise))


def _file_words(path: Path, metadata: Mapping[str, str]) -> str:
    said = (metadata.get(name, "") for name in ("modelspec.title", "ss_output_name"))
    return " ".join(map(words_of, (path.stem, *said)))


def _side_of_file(metadata: Mapping[str, str]) -> int | None:
    match = re.fullmatch(r"(\d{2,4})x\1", metadata.get("modelspec.resolution", ""))
    side = int(match[1]) if match else 0
    return side if 64 <= side <= 2048 and side % 64 == 0 else None


# ---- shared


def _variant(path: Path, family: str, channels: object) -> str:
    if channels == _EDIT_CHANNELS:
        kind = f"an instruction-editing {_TITLES[family]} model ({channels} input channels)"
        raise _refused(path, f"{kind} cannot be run. {supported()}")
    return "inpaint" if channels == _INPAINT_CHANNELS else "base"


def _unet_model(family: str, variant: str, recipe: Recipe | None, side: int, noise: Prediction) -> Detected:
    defaults = ModelDefaults(
        width=side,
        height=side,
        steps=recipe.steps if recipe else _STEPS,
        guidance_scale=recipe.guidance_scale if recipe else _GUIDANCE[family],
    )
    return Detected(
        family=family,
        variant=recipe.variant if recipe else variant,
        variant_guess=_recipe_guess(recipe, defaults),
        defaults=defaults,
        prediction_type=noise.type,
        prediction_reason=noise.reason,
        prediction_guess=noise.guess,
        zero_terminal_snr=noise.zero_snr,
        sampler=recipe.sampler if recipe else None,
        schedule=recipe.schedule if recipe else None,
    )


def _recipe_guess(recipe: Recipe | None, defaults: ModelDefaults) -> Guess | None:
    if recipe is None or recipe.guessed is None:
        return None
    guess = variant_guess(recipe.variant, defaults, f"'{recipe.guessed}' in its name")
    return guess if recipe.sampler is None else replace(guess, option=f"{guess.option}, --sampler")


def _refused(path: Path, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {what}")
