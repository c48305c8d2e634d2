"""Programs that write their settings as one JSON object: InvokeAI, SwarmUI, Fooocus."""

import re

from mezzotint.images.dialect import from_a1111, from_comfyui, from_invokeai
from mezzotint.images.untrusted import mapping, others, real, text, whole
from mezzotint.protocol import ImageMetadata

_RESOLUTION = re.compile(r"\(?\s*([0-9]{1,6})\s*[,x]\s*([0-9]{1,6})\s*\)?")
_INVOKEAI_READ = {
    "positive_prompt", "negative_prompt", "width", "height", "seed", "steps", "scheduler", "cfg_scale", "strength",
    "model", "app_version",
}  # fmt: skip
_SWARMUI_READ = {
    "prompt", "negativeprompt", "width", "height", "seed", "steps", "sampler", "scheduler", "cfgscale", "model",
    "initimagecreativity",
}  # fmt: skip
_FOOOCUS_READ = {
    "prompt", "negative_prompt", "resolution", "seed", "steps", "sampler", "scheduler", "guidance_scale", "base_model",
    "base_model_hash",
}  # fmt: skip


def metadata_of_invokeai(data: dict[str, object]) -> ImageMetadata:
    """Metadata from InvokeAI's `invokeai_metadata`."""
    model = mapping(data.get("model"))
    sampler, schedule = from_invokeai(text(data.get("scheduler")))
    return ImageMetadata(
        program="invokeai",
        prompt=text(data.get("positive_prompt")),
        negative_prompt=text(data.get("negative_prompt")),
        width=whole(data.get("width")),
        height=whole(data.get("height")),
        seed=whole(data.get("seed")),
        steps=whole(data.get("steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(data.get("cfg_scale")),
        strength=real(data.get("strength")),
        model=text(model.get("name") or model.get("model_name")),
        model_hash=text(model.get("hash")),
        request=None,
        other=_rest(data, _INVOKEAI_READ),
    )


def is_swarmui(data: dict[str, object]) -> bool:
    """Whether `parameters` is SwarmUI's JSON."""
    return "sui_image_params" in data


def metadata_of_swarmui(data: dict[str, object]) -> ImageMetadata:
    """Metadata from SwarmUI's JSON in `parameters`."""
    params = mapping(data.get("sui_image_params"))
    models = data.get("sui_models")
    used = [mapping(one) for one in models[:20]] if isinstance(models, list) else []
    main = next((one for one in used if one.get("param") == "model"), {})
    sampler, schedule = from_comfyui(text(params.get("sampler")), text(params.get("scheduler")))
    return ImageMetadata(
        program="swarmui",
        prompt=text(params.get("prompt")),
        negative_prompt=text(params.get("negativeprompt")),
        width=whole(params.get("width")),
        height=whole(params.get("height")),
        seed=whole(params.get("seed")),
        steps=whole(params.get("steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(params.get("cfgscale")),
        strength=real(params.get("initimagecreativity")),
        model=text(params.get("model")),
        model_hash=text(main.get("hash")),
        request=None,
        other=_rest(params, _SWARMUI_READ),
    )


def is_fooocus(data: dict[str, object]) -> bool:
    """Whether `parameters` is Fooocus's JSON."""
    return "base_model" in data and "prompt" in data


def metadata_of_fooocus(data: dict[str, object]) -> ImageMetadata:
    """Metadata from Fooocus's JSON in `parameters`, whose sampler names are ComfyUI's."""
    size = _RESOLUTION.fullmatch(text(data.get("resolution")) or "")
    sampler, schedule = from_comfyui(text(data.get("sampler")), text(data.get("scheduler")))
    sampler, schedule = from_a1111(sampler, schedule)
    return ImageMetadata(
        program="fooocus",
        prompt=text(data.get("prompt")),
        negative_prompt=text(data.get("negative_prompt")),
        width=whole(size[1]) if size else None,
        height=whole(size[2]) if size else None,
        seed=whole(data.get("seed")),
        steps=whole(data.get("steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(data.get("guidance_scale")),
        strength=None,
        model=text(data.get("base_model")),
        model_hash=text(data.get("base_model_hash")),
        request=None,
        other=_rest(data, _FOOOCUS_READ),
    )


def _rest(data: dict[str, object], read: set[str]) -> dict[str, str]:
    return others({key: value for key, value in data.items() if key not in read})
