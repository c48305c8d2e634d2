"""Allowlist of pipelines and component classes that a model folder may name; all others are refused, never imported."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

LibraryClass = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The classes allowed for one component of a pipeline."""

    classes: frozenset[LibraryClass]
    required: bool = True
    used: bool = True  # False: ignored, whatever class the folder names


def _of(library: str, *names: str, required: bool = True) -> Allowed:
    return Allowed(classes=frozenset((library, name) for name in names), required=required)


def _either(first: Allowed, second: Allowed) -> Allowed:
    return replace(first, classes=first.classes | second.classes)


_UNUSED = Allowed(classes=frozenset(), required=False, used=False)
_SCHEDULER = _of(
    "diffusers",
    "DDIMScheduler",
    "DDPMScheduler",
    "DEISMultistepScheduler",
    "DPMSolverMultistepScheduler",
    "DPMSolverSDEScheduler",
    "DPMSolverSinglestepScheduler",
    "EDMDPMSolverMultistepScheduler",
    "EDMEulerScheduler",
    "EulerAncestralDiscreteScheduler",
    "EulerDiscreteScheduler",
    "FlowMatchEulerDiscreteScheduler",
    "HeunDiscreteScheduler",
    "KDPM2AncestralDiscreteScheduler",
    "KDPM2DiscreteScheduler",
    "LCMScheduler",
    "LMSDiscreteScheduler",
    "PNDMScheduler",
    "TCDScheduler",
    "UniPCMultistepScheduler",
)
_VAE = _of("diffusers", "AutoencoderKL")
_CLIP_TOKENIZER = ("CLIPTokenizer", "CLIPTokenizerFast")
_T5_TOKENIZER = _of("transformers", "T5Tokenizer", "T5TokenizerFast", "PreTrainedTokenizerFast")

_SDXL = {
    "unet": _of("diffusers", "UNet2DConditionModel"),
    "vae": _VAE,
    "text_encoder": _of("transformers", "CLIPTextModel", required=False),  # the refiner has only text_encoder_2
    "tokenizer": _of("transformers", *_CLIP_TOKENIZER, required=False),
    "text_encoder_2": _of("transformers", "CLIPTextModelWithProjection"),
    "tokenizer_2": _of("transformers", *_CLIP_TOKENIZER),
    "scheduler": _SCHEDULER,
}
_SD15 = {
    "unet": _of("diffusers", "UNet2DConditionModel"),
    "vae": _VAE,
    "text_encoder": _of("transformers", "CLIPTextModel"),
    "tokenizer": _of("transformers", *_CLIP_TOKENIZER),
    "scheduler": _SCHEDULER,
    "safety_checker": _UNUSED,
    "feature_extractor": _UNUSED,
    "image_encoder": _UNUSED,
}
_PIXART = {
    "transformer": _either(
        _of("diffusers", "PixArtTransformer2DModel", "Transformer2DModel"),
        _of("mezzotint", "PixArtVariantTransformer2DModel"),  # of families/architectures
    ),
    "vae": _VAE,
    "text_encoder": _of("transformers", "T5EncoderModel"),
    "tokenizer": _T5_TOKENIZER,
    "scheduler": _SCHEDULER,
}

_FLOW_SCHEDULER = _of("diffusers", "FlowMatchEulerDiscreteScheduler")
_QWEN_TOKENIZER = _of("transformers", "Qwen2Tokenizer", "Qwen2TokenizerFast")
_Z_IMAGE = {
    "transformer": _of("diffusers", "ZImageTransformer2DModel"),
    "vae": _VAE,
    "text_encoder": _of("transformers", "Qwen3Model", "Qwen3ForCausalLM"),
    "tokenizer": _QWEN_TOKENIZER,
    "scheduler": _FLOW_SCHEDULER,
}
_FLUX2_KLEIN = {
    "transformer": _of("diffusers", "Flux2Transformer2DModel"),
    "vae": _of("diffusers", "AutoencoderKLFlux2"),
    "text_encoder": _of("transformers", "Qwen3ForCausalLM", "Qwen3Model"),
    "tokenizer": _QWEN_TOKENIZER,
    "scheduler": _FLOW_SCHEDULER,
}
_FLUX = {
    "transformer": _of("diffusers", "FluxTransformer2DModel"),
    "vae": _VAE,
    "text_encoder": _of("transformers", "CLIPTextModel"),
    "tokenizer": _of("transformers", *_CLIP_TOKENIZER),
    "text_encoder_2": _of("transformers", "T5EncoderModel"),
    "tokenizer_2": _T5_TOKENIZER,
    "scheduler": _FLOW_SCHEDULER,
}
_QWEN_IMAGE = {
    "transformer": _of("diffusers", "QwenImageTransformer2DModel"),
    "vae": _of("diffusers", "AutoencoderKLQwenImage"),
    "text_encoder": _of("transformers", "Qwen2_5_VLForConditionalGeneration"),
    "tokenizer": _QWEN_TOKENIZER,
    "scheduler": _FLOW_SCHEDULER,
}
_QWEN_IMAGE_EDIT = {**_QWEN_IMAGE, "processor": _UNUSED}
_KREA2 = {
    "transformer": _of("diffusers", "Krea2Transformer2DModel"),
    "vae": _of("diffusers", "AutoencoderKLQwenImage"),
    "text_encoder": _of("transformers", "Qwen3VLModel", "Qwen3VLForConditionalGeneration"),
    "tokenizer": _QWEN_TOKENIZER,
    "scheduler": _FLOW_SCHEDULER,
}
_CHROMA = {
    "transformer": _of("diffusers", "ChromaTransformer2DModel"),
    "vae": _VAE,
    "text_encoder": _of("transformers", "T5EncoderModel"),
    "tokenizer": _T5_TOKENIZER,
    "scheduler": _FLOW_SCHEDULER,
}
_SD3 = {
    "transformer": _of("diffusers", "SD3Transformer2DModel"),
    "vae": _VAE,
    "text_encoder": _of("transformers", "CLIPTextModelWithProjection"),
    "tokenizer": _of("transformers", *_CLIP_TOKENIZER),
    "text_encoder_2": _of("transformers", "CLIPTextModelWithProjection"),
    "tokenizer_2": _of("transformers", *_CLIP_TOKENIZER),
    "text_encoder_3": _of("transformers", "T5EncoderModel", required=False),
    "tokenizer_3": replace(_T5_TOKENIZER, required=False),
    "scheduler": _FLOW_SCHEDULER,
}
_SANA = {
    "transformer": _of("diffusers", "SanaTransformer2DModel"),
    "vae": _of("diffusers", "AutoencoderDC"),
    "text_encoder": _of("transformers", "Gemma2Model", "Gemma2ForCausalLM"),
    "tokenizer": _of("transformers", "GemmaTokenizer", "GemmaTokenizerFast"),
    "scheduler": _of("diffusers", "DPMSolverMultistepScheduler", "FlowMatchEulerDiscreteScheduler"),
}
_SANA_SPRINT = {**_SANA, "scheduler": _of("diffusers", "SCMScheduler")}

PIPELINES: Mapping[str, Mapping[str, Allowed]] = {
    "StableDiffusionXLPipeline": _SDXL,
    "StableDiffusionXLImg2ImgPipeline": _SDXL,
    "StableDiffusionXLInpaintPipeline": _SDXL,
    "StableDiffusionPipeline": _SD15,
    "StableDiffusionImg2ImgPipeline": _SD15,
    "StableDiffusionInpaintPipeline": _SD15,
    "LatentConsistencyModelPipeline": _SD15,
    "PixArtAlphaPipeline": _PIXART,
    "PixArtSigmaPipeline": _PIXART,
    "ZImagePipeline": _Z_IMAGE,
    "Flux2KleinPipeline": _FLUX2_KLEIN,
    "FluxPipeline": _FLUX,
    "FluxImg2ImgPipeline": _FLUX,
    "QwenImagePipeline": _QWEN_IMAGE,
    "QwenImageImg2ImgPipeline": _QWEN_IMAGE,
    "QwenImageEditPipeline": _QWEN_IMAGE_EDIT,
    "QwenImageEditPlusPipeline": _QWEN_IMAGE_EDIT,
    "Krea2Pipeline": _KREA2,
    "ChromaPipeline": _CHROMA,
    "ChromaImg2ImgPipeline": _CHROMA,
    "SanaPipeline": _SANA,
    "SanaSprintPipeline": _SANA_SPRINT,
    "SanaSprintImg2ImgPipeline": _SANA_SPRINT,
    "StableDiffusion3Pipeline": _SD3,
    "StableDiffusion3Img2ImgPipeline": _SD3,
    "FluxFillPipeline": _FLUX,
    "FluxKontextPipeline": _FLUX,
    "FluxControlPipeline": _FLUX,
}

# Classes that a control network's folder may name; the third is xinsir's name for the second.
CONTROLS = (
    "ControlNetModel",
    "ControlNetUnionModel",
    "ControlNetModel_Union",
    "T2IAdapter",
    "FluxControlNetModel",
    "QwenImageControlNetModel",
    "ZImageControlNetModel",
    "ReduxImageEncoder",
)

# Networks that look at images: by purpose, the classes of transformers that a folder may name, with their backbones.
LOOKING: Mapping[str, Mapping[str, str]] = {
    "detection": {"RTDetrV2ForObjectDetection": "rt_detr_resnet", "RTDetrForObjectDetection": "rt_detr_resnet"},
    "depth": {"DepthAnythingForDepthEstimation": "dinov2"},
    "pose": {"VitPoseForPoseEstimation": "vitpose_backbone"},
}

# Config keys that ask a library to run code shipped with the model.
CODE_KEYS = frozenset({"auto_map", "custom_pipeline", "custom_pipelines", "custom_revision", "trust_remote_code"})
CODE_SUFFIXES = frozenset({".py", ".pyc", ".pyw", ".pyd", ".so", ".dll", ".dylib"})
