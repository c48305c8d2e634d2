"""Convert our record to A1111's settings, and A1111's settings to ImageMetadata."""

import re
from pathlib import PurePosixPath

from mezzotint.images.dialect import from_a1111, from_a1111_upscaler, lora_tags
from mezzotint.images.infotext import Infotext
from mezzotint.images.record import ImageRecord
from mezzotint.images.untrusted import cleaned, others, real, text, whole
from mezzotint.protocol import ControlUsed, ImageMetadata, Inpaint, LoraUsed, ModelUsed, ResolvedStage
from mezzotint.request_protocol import InpaintArea, InpaintFill
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES

_VARIATION = ("Variation seed", "Variation seed strength")
_DISTILLED = "Distilled CFG Scale"
_MASK = ("Mask blur", "Inpaint area", "Masked area padding", "Masked content")
_CONTENT: dict[str, InpaintFill] = {"original": "original", "fill": "blur", "latent noise": "noise"}
_HASH = re.compile(r" \[[0-9a-fA-F]{3,64}\]\Z")
_READ = {
    *("Steps", "Sampler", "Schedule type", "CFG scale", "Seed", "Size", "Model", "Model hash", "Denoising strength"),
    *_VARIATION,
    *(_DISTILLED, "Clip skip", "Hires upscale", "Hires steps", "Hires upscaler", "Refiner", "Refiner switch at"),
}
UNREAD = "unread"  # key in `other` for what is written among the settings and is none
_VERSION = "mezzotint "


def infotext_of(record: ImageRecord) -> Infotext:
    """The infotext that A1111 would write for this image, in its key order."""
    request = record.request
    settings = _first_stage(record) | _cascade(record) | _inpainting(record) | _lora_hashes(record)
    settings |= _controls(record)
    settings["Version"] = _VERSION + record.program_version
    prompt = " ".join([request.prompt, *(_lora_tag(lora) for lora in _loras(record))])
    return Infotext(prompt=prompt, negative_prompt=request.negative_prompt, settings=settings)


def metadata_of(info: Infotext) -> ImageMetadata:
    """The metadata of an infotext; settings without a field of their own go to `other`."""
    settings = info.settings
    sampler, schedule = from_a1111(text(settings.get("Sampler")), text(settings.get("Schedule type")))
    width, height = _size(settings.get("Size", ""))
    skip, inpaint = whole(settings.get("Clip skip")), _inpaint_of(settings)
    space, upscaler = from_a1111_upscaler(text(settings.get("Hires upscaler")))
    read = _READ if inpaint is None else {*_READ, *_MASK}
    return ImageMetadata(
        program="mezzotint" if settings.get("Version", "").startswith(_VERSION) else "a1111",
        prompt=cleaned(info.prompt),
        negative_prompt=cleaned(info.negative_prompt),
        width=width,
        height=height,
        seed=whole(settings.get("Seed")),
        steps=whole(settings.get("Steps")),
        sampler=sampler,
        schedule=schedule,
        guidance_scale=real(settings.get("CFG scale")),
        strength=real(settings.get("Denoising strength")),
        variation_seed=whole(settings.get(_VARIATION[0])),
        variation_strength=real(settings.get(_VARIATION[1])),
        distilled_guidance_scale=real(settings.get(_DISTILLED)),
        clip_skip=None if skip is None else skip - 1,
        hires_scale=real(settings.get("Hires upscale")),
        hires_steps=whole(settings.get("Hires steps")) or None,
        hires_space=space,
        hires_upscaler=upscaler,
        refiner=_HASH.sub("", cleaned(settings.get("Refiner", ""))) or None,
        refiner_at=real(settings.get("Refiner switch at")),
        loras=lora_tags(info.prompt),
        inpaint=inpaint,
        model=text(settings.get("Model")),
        model_hash=text(settings.get("Model hash")),
        request=None,
        other=others(
            {key: value for key, value in settings.items() if key not in read} | {UNREAD: "; ".join(info.unread)}
        ),
    )


def _first_stage(record: ImageRecord) -> dict[str, str]:
    if not record.stages:
        return {"Seed": str(record.image.seed), "Size": f"{record.image.width}x{record.image.height}"}
    stage = record.stages[0]
    return {
        "Steps": str(stage.steps),
        "Sampler": SAMPLERS.get(stage.sampler, stage.sampler),
        "Schedule type": SCHEDULES.get(stage.schedule, stage.schedule),
        **_guidances(stage),
        "Seed": str(record.image.seed),
        "Size": f"{stage.width}x{stage.height}",
        **_model(stage.model),
        **_variation(stage),
    }


def _guidances(stage: ResolvedStage) -> dict[str, str]:
    """The CFG scale, and distilled guidance as Forge writes it."""
    if stage.true_cfg_scale is None:
        return {"CFG scale": _number(stage.guidance_scale)}
    return {"CFG scale": _number(stage.true_cfg_scale), _DISTILLED: _number(stage.guidance_scale)}


def _variation(stage: ResolvedStage) -> dict[str, str]:
    if not stage.variation_strength:
        return {}
    return dict(zip(_VARIATION, (str(stage.variation_seed or 0), _number(stage.variation_strength)), strict=True))


def _cascade(record: ImageRecord) -> dict[str, str]:
    """Settings that A1111 has for strength, clip skip (which it counts from 1), hires fix and refiner."""
    settings: dict[str, str] = {}
    transitions = [one for one in record.transitions if not one.refines]  # which A1111 does not know
    strengths = [record.request.strength, *(one.strength for one in transitions)]
    if strength := next((one for one in strengths if one is not None), None):
        settings["Denoising strength"] = _number(strength)
    if record.stages and record.stages[0].clip_skip:
        settings["Clip skip"] = str(record.stages[0].clip_skip + 1)
    for transition in transitions:
        if transition.scale != 1.0:
            settings["Hires upscale"] = _number(transition.scale)
            name = PurePosixPath(transition.upscaler).stem if transition.upscaler_file else transition.upscaler
            shown = name if transition.upscaler_file else name.capitalize()
            settings["Hires upscaler"] = f"Latent ({name})" if transition.space == "latent" else shown
            break
    return settings | _refiner(record)


def _inpainting(record: ImageRecord) -> dict[str, str]:
    """A1111's inpainting settings; its defaults are omitted."""
    asked = record.request.inpaint
    if asked is None:
        return {}
    settings = {"Mask blur": str(asked.feather)} if asked.feather else {}
    if asked.area == "masked":
        settings |= {"Inpaint area": "Only masked", "Masked area padding": str(asked.padding)}
    if asked.fill != "original":
        settings["Masked content"] = "fill" if asked.fill == "blur" else "latent noise"
    return settings


def _inpaint_of(settings: dict[str, str]) -> Inpaint | None:
    """What A1111's inpainting settings say; None if there is none, or one that is not ours."""
    blur, padding = whole(settings.get(_MASK[0], "0")), whole(settings.get(_MASK[2], "32"))
    fill = _CONTENT.get(settings.get(_MASK[3], "original").casefold())
    if not settings.keys() & set(_MASK) or blur is None or padding is None or fill is None:
        return None
    area: InpaintArea = "masked" if settings.get(_MASK[1], "").casefold() == "only masked" else "whole"
    return Inpaint(area=area, padding=padding, feather=blur, fill=fill)


def _refiner(record: ImageRecord) -> dict[str, str]:
    asked = record.request.cascade.stages
    if len(record.stages) < 2 or len(asked) < 2 or asked[0].until is None:
        return {}
    model = _model(record.stages[1].model)
    shown = f"{model['Model']} [{model['Model hash']}]" if "Model hash" in model else model["Model"]
    return {"Refiner": shown, "Refiner switch at": _number(asked[0].until)}


def _loras(record: ImageRecord) -> tuple[LoraUsed, ...]:
    """The LoRAs of all stages, each once, as A1111 does not separate stages."""
    return tuple(dict.fromkeys(lora for stage in record.stages for lora in stage.loras))


def _lora_name(lora: LoraUsed) -> str:
    return _stem(lora.file.path)


def _stem(path: str) -> str:
    """A file's stem, without characters that would end a tag or an entry."""
    name = PurePosixPath(path.replace("\\", "/")).name.removesuffix(".safetensors")
    return "".join(letter for letter in name if letter not in "<>:,")


def _lora_tag(lora: LoraUsed) -> str:
    return f"<lora:{_lora_name(lora)}:{_number(lora.weight)}>"


def _lora_hashes(record: ImageRecord) -> dict[str, str]:
    """A1111's short hashes, which exclude a file's header."""
    hashes = {_lora_name(lora): lora.tensors_sha256[:12] for lora in _loras(record)}
    return {"Lora hashes": ", ".join(f"{name}: {value}" for name, value in hashes.items())} if hashes else {}


def _controls(record: ImageRecord) -> dict[str, str]:
    """The control images of all stages, each once, as A1111's extension for ControlNets writes them."""
    used = dict.fromkeys(control for stage in record.stages for control in stage.controls)
    return {f"ControlNet {number}": _control(control) for number, control in enumerate(used)}


def _control(control: ControlUsed) -> str:
    said = {
        "Module": control.preprocess,
        "Model": "None" if control.file is None else _stem(control.file.path),
        "Weight": _number(control.weight),
        "Guidance Start": _number(control.start),
        "Guidance End": _number(control.end),
    }
    return ", ".join(f"{name}: {value}" for name, value in said.items())


def _model(model: ModelUsed) -> dict[str, str]:
    """The name, and A1111's short hash if the model is a single file; folders have none."""
    name = PurePosixPath(model.id.replace("\\", "/")).name.removesuffix(".safetensors") or model.id
    return {"Model hash": model.files[0].sha256[:10], "Model": name} if len(model.files) == 1 else {"Model": name}


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _size(written: str) -> tuple[int | None, int | None]:
    width, _, height = written.partition("x")
    return whole(width), whole(height)
