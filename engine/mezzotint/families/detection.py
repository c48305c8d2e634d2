"""Detects the family, variant and defaults of a checkpoint from names, shapes and configs alone."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mezzotint.checkpoints.folder import Component, FolderCheckpoint, published_name
from mezzotint.checkpoints.foreign_kind import gguf_advice
from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.weight_file import is_gguf
from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.table import Architecture, read_architecture
from mezzotint.families.detected import Detected
from mezzotint.families.distilled import LcmUnet, Recipe, recipe_of
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.foreign import is_sd15, missing_parts, why_not_whole
from mezzotint.families.known import FLOW_FAMILIES, family_of, supported
from mezzotint.families.loading.added_parts import whole_header
from mezzotint.families.loading.stored_layers import logical_header
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
_TRUE = ("true", "1", "yes")


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
    return _with_settings(found, folder)


def _unet_folder(folder: FolderCheckpoint, family: str) -> Detected:
    unet = _config(folder, "unet")
    scheduler = _config(folder, "scheduler")
    if family == "sd15" and unet.get("cross_attention_dim") == _SD2_WIDTH:
        raise _refused(folder.path, f"a Stable Diffusion 2 model cannot be run. {supported()}")
    variant = _variant(folder.path, family, unet.get("in_channels"))
    prediction, zero_snr = _noise_of_scheduler(folder, scheduler)
    side = _side(folder, unet, _SIDES[family])
    if family == "sdxl" and "text_encoder" not in folder.components:
        return _unet_model(family, "refiner", None, side, prediction, zero_snr)
    recipe = recipe_of(published_name(folder.path), _hint(folder, prediction, zero_snr), _lcm(unet))
    return _unet_model(family, variant, recipe, side, prediction, zero_snr)


def _pixart_folder(folder: FolderCheckpoint) -> Detected:
    transformer = _config(folder, "transformer")
    architecture = _architecture(folder, transformer.get("architecture", {}))
    prediction, zero_snr = _noise_of_scheduler(folder, _config(folder, "scheduler"))
    side = _side(folder, transformer, 1024)
    few = _class_of(folder, "scheduler") == "LCMScheduler"
    return Detected(
        family="pixart",
        variant=_PIXART_PIPELINES[folder.pipeline_class],
        defaults=ModelDefaults(width=side, height=side, steps=4 if few else 20, guidance_scale=1.0 if few else 4.5),
        prediction_type=prediction,
        zero_terminal_snr=zero_snr,
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


def _noise_of_scheduler(folder: FolderCheckpoint, config: Mapping[str, object]) -> tuple[PredictionType, bool]:
    class_name = _class_of(folder, "scheduler")
    if class_name.startswith("EDM"):
        raise _refused(folder.path, f"models trained on EDM noise ({class_name}) cannot be run. {supported()}")
    said = config.get("prediction_type", "epsilon")
    return _prediction(folder.path, said), config.get("rescale_betas_zero_snr") is True


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


def _hint(folder: FolderCheckpoint, prediction: PredictionType, zero_snr: bool) -> str | None:
    """The distilled variant that the scheduler suggests, or None.

    SDXL-Turbo is published with an ancestral sampler on trailing timesteps, which hardly any other model uses; plain
    Euler on trailing timesteps is common among models that need their full number of steps.
    """
    class_name = _class_of(folder, "scheduler")
    if class_name == "LCMScheduler":
        return "lcm"
    trailing = _config(folder, "scheduler").get("timestep_spacing") == "trailing"
    if not trailing or zero_snr or prediction != "epsilon":
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
    for flow in FLOW_FAMILIES:
        if flow.is_in(file, header.tensors):
            return flow.detect(file)
    if is_gguf(file.path):
        raise _refused(file.path, gguf_advice())
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
    prediction, zero_snr = _noise_of_file(header, words)
    refiner = family == "sdxl" and "conditioner.embedders.1.model.text_projection" not in header.tensors
    lcm: LcmUnet = "embeds_guidance" if _UNET + "time_embed.cond_proj.weight" in header.tensors else "plain"
    recipe = None if refiner else recipe_of(words, None, lcm)
    side = _side_of_file(header.metadata) or (recipe.side if recipe else None) or _SIDES[family]
    return _unet_model(family, "refiner" if refiner else variant, recipe, side, prediction, zero_snr)


def _file_words(path: Path, metadata: Mapping[str, str]) -> str:
    said = (metadata.get(name, "") for name in ("modelspec.title", "ss_output_name"))
    return " ".join((path.stem, *said))


def _noise_of_file(header: Header, words: str) -> tuple[PredictionType, bool]:
    if any(name in header.tensors for name in ("edm_mean", "edm_std", "edm_vpred.sigma_max")):
        raise _refused(header.path, f"models trained on EDM noise (Playground, CosXL) cannot be run. {supported()}")
    if re.search(r"1[-_ ]?step[-_ ]?x0", words.lower()):
        raise _refused(header.path, f"one-step models that predict the image (x0) cannot be run. {supported()}")
    metadata = header.metadata
    said = metadata.get("modelspec.prediction_type", "").lower()
    flags = ("ss_v_parameterization", "ss_v_prediction", "ss_v_pred")
    by_metadata = said in ("v", "v_prediction", "v-prediction") or any(_true(metadata, name) for name in flags)
    by_name = not said and re.search(r"(?<![a-z])v[-_ ]?pred", words.lower()) is not None
    zero_snr = "ztsnr" in header.tensors or _true(metadata, "ss_zero_terminal_snr")
    velocity = "v_pred" in header.tensors or by_metadata or by_name
    return ("v_prediction" if velocity else "epsilon"), zero_snr


def _true(metadata: Mapping[str, str], name: str) -> bool:
    return metadata.get(name, "").lower() in _TRUE


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


def _unet_model(
    family: str, variant: str, recipe: Recipe | None, side: int, prediction: PredictionType, zero_snr: bool
) -> Detected:
    return Detected(
        family=family,
        variant=recipe.variant if recipe else variant,
        defaults=ModelDefaults(
            width=side,
            height=side,
            steps=recipe.steps if recipe else _STEPS,
            guidance_scale=recipe.guidance_scale if recipe else _GUIDANCE[family],
        ),
        prediction_type=prediction,
        zero_terminal_snr=zero_snr,
        sampler=recipe.sampler if recipe else None,
        schedule=recipe.schedule if recipe else None,
    )


def _refused(path: Path, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {what}")
