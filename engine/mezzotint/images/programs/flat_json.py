"""Programs that write their settings as one JSON object: InvokeAI, SwarmUI, Fooocus."""

import re
from collections.abc import Callable
from itertools import zip_longest

from mezzotint.images.dialect import from_a1111, from_comfyui, from_invokeai
from mezzotint.images.untrusted import mapping, others, real, text, whole
from mezzotint.protocol import ImageMetadata, LoraNamed

_RESOLUTION = re.compile(r"\(?\s*([0-9]{1,6})\s*[,x]\s*([0-9]{1,6})\s*\)?")
_COMBINED = re.compile(r"lora_combined_[0-9]{1,3}")
_MOST_LORAS = 64
_INVOKEAI_READ = {
    "positive_prompt", "negative_prompt", "width", "height", "seed", "steps", "scheduler", "cfg_scale", "strength",
    "model", "app_version", "guidance", "clip_skip", "refiner_model", "refiner_start",
}  # fmt: skip
_SWARMUI_READ = {
    "prompt", "negativeprompt", "width", "height", "seed", "steps", "sampler", "scheduler", "cfgscale", "model",
    "initimagecreativity", "fluxguidancescale", "clipstopatlayer", "refinermodel", "refinercontrolpercentage",
}  # fmt: skip
_FOOOCUS_READ = {
    "prompt", "negative_prompt", "resolution", "seed", "steps", "sampler", "scheduler", "guidance_scale", "base_model",
    "base_model_hash", "clip_skip", "refiner_model", "refiner_switch",
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
        distilled_guidance_scale=real(data.get("guidance")),
        clip_skip=whole(data.get("clip_skip")),
        refiner=_name(data.get("refiner_model")),
        refiner_at=real(data.get("refiner_start")),
        loras=_loras(data.get("loras"), _invokeai_lora),
        model=_name(model),
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
    layer, refined = whole(params.get("clipstopatlayer")), real(params.get("refinercontrolpercentage"))
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
        distilled_guidance_scale=real(params.get("fluxguidancescale")),
        clip_skip=None if layer is None else -1 - layer,
        refiner=text(params.get("refinermodel")),
        refiner_at=None if refined is None else 1 - refined,
        loras=_swarmui_loras(params),
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
    skip, refiner = whole(data.get("clip_skip")), text(data.get("refiner_model"))
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
        clip_skip=None if skip is None else skip - 1,
        refiner=refiner if refiner != "None" else None,
        refiner_at=real(data.get("refiner_switch")) if refiner not in (None, "None") else None,
        loras=_fooocus_loras(data),
        model=text(data.get("base_model")),
        model_hash=text(data.get("base_model_hash")),
        request=None,
        other=_rest(data, {*_FOOOCUS_READ, *(key for key in data if _COMBINED.fullmatch(key))}),
    )


def _name(model: object) -> str | None:
    known = mapping(model)
    return text(known.get("name") or known.get("model_name"))


def _loras(written: object, read: Callable[[object], LoraNamed | None]) -> tuple[LoraNamed, ...]:
    every = written[:_MOST_LORAS] if isinstance(written, list) else []
    return tuple(lora for lora in map(read, every) if lora is not None)


def _invokeai_lora(entry: object) -> LoraNamed | None:
    lora = mapping(entry)
    return _lora(_name(lora.get("model")) or _name(lora.get("lora")), lora.get("weight"))


def _swarmui_loras(params: dict[str, object]) -> tuple[LoraNamed, ...]:
    """Names and weights in two lists, or as two texts separated by commas."""
    names, weights = (
        value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        for value in (params.get("loras"), params.get("loraweights"))
    )
    pairs = zip_longest(names[:_MOST_LORAS], weights[: len(names)])
    return tuple(lora for name, weight in pairs if (lora := _lora(text(name), weight)) is not None)


def _fooocus_loras(data: dict[str, object]) -> tuple[LoraNamed, ...]:
    """`loras`, a list of name, weight and hash; or `lora_combined_1` and so on, of name and weight."""
    combined = (text(value) for key, value in data.items() if _COMBINED.fullmatch(key))
    parts = [value.rpartition(" : ") for value in combined if value]
    pairs = [[name or weight, weight if name else None] for name, _, weight in parts]
    return _loras(data.get("loras"), _fooocus_lora) + _loras(pairs, _fooocus_lora)


def _fooocus_lora(entry: object) -> LoraNamed | None:
    return _lora(text(entry[0]), entry[1]) if isinstance(entry, list) and len(entry) > 1 else None


def _lora(name: str | None, weight: object) -> LoraNamed | None:
    number = real(weight)
    return LoraNamed(name=name.strip(), weight=1.0 if number is None else number) if name and name.strip() else None


def _rest(data: dict[str, object], read: set[str]) -> dict[str, str]:
    return others({key: value for key, value in data.items() if key not in read})
