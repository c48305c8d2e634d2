"""A request of `txt2img` or `img2img`, translated to our options."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.api_server.control_units import ControlUnit, control_units
from mezzotint.api_server.fields import Fields
from mezzotint.api_server.init_image import BLURS, InitImage, init_image, init_options
from mezzotint.api_server.names import loras_named, model_named, sampling_named
from mezzotint.api_server.refusal import invalid
from mezzotint.api_server.second_pass import LARGEST_SIDE, second_pass, second_pass_steps
from mezzotint.api_server.unsupported import check_scripts, check_unsupported
from mezzotint.batch.job.styled import styled
from mezzotint.errors import UsageError
from mezzotint.images.reading import MAX_PIXELS
from mezzotint.images.untrusted import real
from mezzotint.library.styles.store import find_style, list_styles
from mezzotint.options import Options
from mezzotint.parsed import Parsed
from mezzotint.protocol import ModelInfo
from mezzotint.request_protocol import MAX_SEED, REFINER_AT
from mezzotint.sampling_protocol import both_guidances
from mezzotint.values.basic import shown
from mezzotint.values.style_text import with_styles

MOST_IMAGES = 100  # in one answer
_SEEDS_DRAWN_BELOW = 2**32  # the range that other programs can read
MOST_STYLES = 20
_BINARY = ("init_images", "mask", "alwayson_scripts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """What requests may name, and what they leave to the server."""

    models: Callable[[], Sequence[ModelInfo]]
    loras: Callable[[], Mapping[str, Path]]
    controlnets: Callable[[], Mapping[str, Path]] = dict
    checkpoint: str  # the id of the model of requests that name none
    clip_skip: int = 0
    previews: bool = True
    upscalers: Callable[[], Sequence[str]] = tuple  # their names; files are not named by requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What is to be generated, and how it is answered; images are not written yet."""

    options: Options
    previews: bool
    second_pass_steps: int = 0  # 0: as many as in the first
    init: InitImage | None = None
    controls: tuple[ControlUnit, ...] = ()
    save: bool = False  # in the output folder
    send: bool = True
    parameters: Mapping[str, object]  # for the answer

    @property
    def images(self) -> int:
        """The number of images."""
        return int(self.options.count or 1)


def read_generation(fields: Fields, offers: Offers, *, has_init: bool) -> Parsed[Generation]:
    """Translate the fields of a request. Raises Refusal for whatever cannot be done as it says."""
    values = _common(fields, offers)
    values["size"] = size = _size(fields)
    hires = not has_init and fields.flag("enable_hr")
    if hires:
        values |= second_pass(fields, size, offers.upscalers())
    sampler = values["sampler"] if isinstance(values["sampler"], str) else None
    init = init_image(fields) if has_init else None
    if init is not None:
        values |= init_options(fields, has_mask=init.mask is not None)
    send, save = fields.flag("send_images", True), fields.flag("save_images")
    keeps_images = fields.flag("include_init_images")
    steps = second_pass_steps(fields) if hires else 0
    controls = _controls(fields.inside("alwayson_scripts"), offers, init)
    check_unsupported(fields, hires=hires, sampler=sampler)
    _skip_other_mode(fields, has_init=has_init)
    options = _with_styles(Options(**values | {"style": _styles(fields)}))
    _check_pixels(options)
    asked = Generation(
        options=options,
        previews=offers.previews and not options.hires and not options.refiner,  # the first stage would be decoded, too
        second_pass_steps=steps,
        init=init,
        controls=controls,
        send=send,
        save=save,
        parameters={name: value for name, value in fields.data.items() if keeps_images or name not in _BINARY},
    )
    guesses = tuple(guess for unit in controls for guess in unit.guesses)
    return Parsed(asked, source="the request", unused=tuple(fields.left()), guesses=guesses)


def _controls(scripts: Fields, offers: Offers, init: InitImage | None) -> tuple[ControlUnit, ...]:
    """The units of ControlNet, the only extension whose arguments are followed."""
    image = None if init is None else init.image
    units = [control_units(scripts.inside(name), offers.controlnets, image) for name in scripts.names()
             if name.lower() == "controlnet"]  # fmt: skip
    check_scripts(scripts)
    return tuple(unit for each in units for unit in each)


def _common(fields: Fields, offers: Offers) -> dict[str, object]:
    settings = fields.inside("override_settings")
    prompt, loras = loras_named(fields.text("prompt", option="prompt"), offers.loras)
    values: dict[str, object] = {
        "prompt": prompt,
        "lora": loras,
        "negative": fields.text("negative_prompt", option="negative"),
        "steps": fields.option("steps", "steps"),
        **_guidances(fields),
        **_seeds(fields),
        "count": _count(fields),
        "model": _model(settings, "sd_model_checkpoint", offers) or offers.checkpoint,
        "clip_skip": clip_skip(settings) or offers.clip_skip or None,
    }
    check_settings(settings)
    sampler = fields.text("sampler_name") or fields.text("sampler_index")
    fields.take("sampler_index")
    values["sampler"], values["schedule"] = sampling_named(sampler, fields.text("scheduler"))
    return values | _refiner(fields, offers)


def _guidances(fields: Fields) -> dict[str, float | None]:
    read = (fields.option(name, "guidance") for name in ("cfg_scale", "distilled_cfg_scale"))
    cfg, distilled = (float(value) if isinstance(value, int | float) else None for value in read)
    guidance, true_cfg = both_guidances(cfg, distilled)
    return {"guidance": guidance, "true_cfg": true_cfg}


def clip_skip(settings: Fields, unset: int = 0) -> int:
    """Our clip skip for A1111's, which counts from 1."""
    return settings.whole("CLIP_stop_at_last_layers", unset + 1, 1, 12) - 1


def check_settings(settings: Fields) -> None:
    """Take the settings that can only have one value; raises Refusal for another one."""
    for name, allowed in (("sd_vae", ("automatic", "none", "")), ("samples_format", ("png", ""))):
        value = settings.text(name)
        if value.lower() not in allowed:
            raise invalid(settings.path(name), f"{shown(value)} is not supported; the only value is {allowed[0]}")
    settings.take_if("eta_noise_seed_delta", lambda value: real(value) == 0)
    settings.take_if("sd_checkpoint_hash", lambda _: True)  # belongs to the model's name


def _model(fields: Fields, name: str, offers: Offers) -> str | None:
    asked = fields.text(name)
    return model_named(asked, offers.models(), fields.path(name)) if asked else None


def _refiner(fields: Fields, offers: Offers) -> dict[str, object]:
    refiner, at = fields.text("refiner_checkpoint"), fields.number("refiner_switch_at", REFINER_AT, 0, 1)
    if not refiner or refiner.lower() == "none" or at == 1:
        return {}
    if at == 0:
        raise invalid("refiner_switch_at", "0 leaves nothing to the model; name the refiner as the model")
    return {"refiner": model_named(refiner, offers.models(), "refiner_checkpoint"), "refiner_at": at}


def _seeds(fields: Fields) -> dict[str, object]:
    """Seed and variation seed; with a variation, both are known from here, since all images share the first."""
    seed, other = (fields.whole(name, -1, -1, MAX_SEED) for name in ("seed", "subseed"))
    strength = fields.number("subseed_strength", 0, 0, 1)
    if not strength:
        return {"seed": None if seed == -1 else seed}
    seed, other = (random.randrange(_SEEDS_DRAWN_BELOW) if one == -1 else one for one in (seed, other))
    return {"seed": seed, "variation_seed": other, "variation_strength": strength}


def _count(fields: Fields) -> int:
    size, rounds = (fields.whole(name, 1, 1, MOST_IMAGES) for name in ("batch_size", "n_iter"))
    if size * rounds > MOST_IMAGES:
        raise invalid("n_iter", f"{size} x {rounds} images are too many for one request; at most {MOST_IMAGES}")
    return size * rounds


def _size(fields: Fields) -> tuple[int, int] | None:
    width, height = (fields.whole(name, 0, 0, LARGEST_SIDE) for name in ("width", "height"))
    if not width and not height:
        return None
    if not width or not height:
        raise invalid("width", f"{width} x {height} is not a size; give both sides, or none for the model's own size")
    return width, height


def _skip_other_mode(fields: Fields, *, has_init: bool) -> None:
    """Take what only the other kind of request uses: some clients send one set of fields to both."""
    for name in ("enable_hr", "hr_scale", "hr_upscaler", "hr_second_pass_steps", "hr_resize_x", "hr_resize_y"):
        fields.take(name)
    for name in ("denoising_strength", "resize_mode", "mask_blur", "inpainting_fill", "inpaint_full_res"):
        fields.take(name)
    for name in ("inpaint_full_res_padding", "inpainting_mask_invert", *(() if has_init else BLURS)):
        fields.take(name)
    for name in ("init_images", "mask"):
        if fields.take(name):
            raise invalid(name, "txt2img takes no image; send it to img2img")


def _styles(fields: Fields) -> tuple[str, ...]:
    """The names of styles, as they are listed; A1111 ignores others."""
    names = [name for name in fields.texts("styles") if name and (name.lower() != "none" or _has_style(name))]
    if len(names) > MOST_STYLES:
        raise invalid("styles", f"{len(names)} are too many for one request; at most {MOST_STYLES}")
    for index, name in enumerate(names):
        try:
            names[index] = find_style(name).name
        except UsageError as error:
            raise invalid(f"styles[{index}]", str(error)) from None
    return tuple(names)


def _has_style(name: str) -> bool:
    return any(one.name.casefold() == name.casefold() for one in list_styles().styles)


def _with_styles(options: Options) -> Options:
    """The options with what their styles set and they do not, and with their texts around the prompts."""
    found, texts = styled(options)
    return found.replace(prompt=with_styles(options.prompt or "", texts)) if texts else found


def _check_pixels(options: Options) -> None:
    size, count, scale = options.size, options.count, options.hires or 1.0
    if not isinstance(size, tuple) or not isinstance(count, int) or not isinstance(scale, int | float):
        return
    pixels = size[0] * size[1] * scale * scale * count
    if pixels > MAX_PIXELS:
        most = MAX_PIXELS // 10**6
        raise invalid(
            "width", f"{pixels / 1e6:.0f} million pixels are asked for; one answer has at most {most} million"
        )
