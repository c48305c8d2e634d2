"""Units of A1111's ControlNet extension, translated to our control images."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.names import file_named
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import invalid
from mezzotint.api_server.unsupported import is_empty
from mezzotint.control_protocol import (
    CONTROL_TYPES,
    MAX_CONTROL_WEIGHT,
    MAX_CONTROLS,
    ControlRef,
    ControlType,
    Preprocess,
    check_control,
)
from mezzotint.images.untrusted import real
from mezzotint.parsed import Guess
from mezzotint.values.basic import shown

VERSION = 3  # of the extension's API
# The extension's preprocessors that there are here, and what an image that is ready shows.
MODULES: Mapping[str, Preprocess] = {
    "none": "none",
    "canny": "canny",
    "softedge_hed": "lines",
    "softedge_hedsafe": "lines",
    "softedge_pidinet": "lines",
    "softedge_pidisafe": "lines",
    "softedge_teed": "lines",
    "scribble_hed": "scribble",
    "scribble_pidinet": "scribble",
    "scribble_xdog": "scribble",
    "depth_anything": "depth",
    "depth_anything_v2": "depth",
    "depth_midas": "depth",
    "depth": "depth",
    "openpose": "pose",
    "dw_openpose_full": "pose",
    "tile_resample": "tile",
}
# The extension's types of control images, and the preprocessors that make them.
PREPROCESSORS_BY_TYPE: Mapping[str, tuple[Preprocess, ...]] = {
    "All": ("none",),
    "Canny": ("none", "canny"),
    "Depth": ("none", "depth"),
    "OpenPose": ("none", "pose"),
    "SoftEdge": ("none", "lines"),
    "Scribble": ("none", "scribble"),
    "Tile": ("none", "tile"),
    "IP-Adapter": ("none",),
}
_TYPES: Mapping[str, ControlType] = {"softedge": "hed", "normalmap": "normal", "segmentation": "segment"}
_BALANCED = ("balanced", "0", "")
_THRESHOLDS = ("threshold_a", "threshold_b")
_OF_PREPROCESSORS = ("processor_res",)
_USE_THRESHOLDS = ("canny", "scribble_xdog", "softedge_hedsafe", "softedge_pidisafe", "tile_resample")
_CROPS = ("crop and resize", "1", "inner fit (scale to fit)", "scale to fit (inner fit)")
_INIT_IMAGE = "the init image"
# When each changes nothing: memory is planned, and preprocessors work at the size of the image.
_WITHOUT_EFFECT: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("low_vram", "pixel_perfect", "save_detected_map"), lambda _: True),
    "processor_res": lambda value: real(value) in (-1, 64, 512),  # what clients send unless told
    "resize_mode": lambda value: str(value).strip().lower() in _CROPS,
    "hr_option": lambda value: str(value).lower() in ("both", "hiresfixoption.both", "0"),
    **dict.fromkeys(("guessmode", "effective_region_mask", "advanced_weighting", "ipadapter_input"), is_empty),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlUnit:
    """A control image in memory, and what it is given to; the reference's `image` is its name in the request."""

    image: bytes
    control: ControlRef
    guesses: tuple[Guess, ...] = ()


def control_units(
    fields: Fields, files: Callable[[], Mapping[str, Path]], init: bytes | None = None
) -> tuple[ControlUnit, ...]:
    """The units that are enabled; one without an image takes the init image, if there is one.

    Raises Refusal for one that cannot be done as it says.
    """
    units = fields.objects("args")
    if len(units) > MAX_CONTROLS:
        raise invalid(fields.path("args"), f"{len(units)} units are too many; at most {MAX_CONTROLS} are possible")
    return tuple(_unit(unit, files, init) for unit in units if _is_enabled(unit))


def _is_enabled(unit: Fields) -> bool:
    enabled = unit.flag("enabled", True)
    if not enabled:
        unit.drop()
    return enabled


def _unit(fields: Fields, files: Callable[[], Mapping[str, Path]], init: bytes | None) -> ControlUnit:
    field = fields.path("image")
    image, guesses = _image(fields, init)
    model = fields.text("model", "None")
    module = preprocessor(fields, "module")
    control = ControlRef(
        image=field,
        model=str(file_named(model, files(), fields.path("model"), "ControlNet", "/controlnet/model_list")),
        weight=fields.number("weight", 1.0, 0, MAX_CONTROL_WEIGHT),
        start=fields.number("guidance_start", 0.0, 0, 1),
        end=fields.number("guidance_end", 1.0, 0, 1),
        type=_type(fields),
        preprocess=MODULES[module],
    )
    _check_others(fields, module)
    try:
        check_control(control)
    except ValueError as error:
        raise invalid(fields.path("guidance_start"), str(error)) from None
    return ControlUnit(image=image, control=control, guesses=guesses)


def preprocessor(fields: Fields, name: str) -> str:
    """The extension's name of a preprocessor that there is here; raises Refusal for another."""
    module = fields.text(name, "none").strip().lower()
    if module not in MODULES:
        raise invalid(fields.path(name), f"{shown(module)} is not here; send what it makes, with module none")
    return module


def take_without_effect(fields: Fields, module: str, prefix: str = "") -> None:
    """Take what changes nothing of an image that a preprocessor makes; anything else is left."""
    for name, has_none in _WITHOUT_EFFECT.items():
        fields.take_if(f"{prefix if name in _OF_PREPROCESSORS else ''}{name}", has_none)
    for name in _THRESHOLDS:
        fields.take_if(f"{prefix}{name}", lambda value: module not in _USE_THRESHOLDS or real(value) == -1)


def _image(fields: Fields, init: bytes | None) -> tuple[bytes, tuple[Guess, ...]]:
    """The image, bare or beside a mask in an object."""
    path = fields.path("image")
    given = fields.take("image") or fields.take("input_image")
    if isinstance(given, dict):
        inner = fields.nested(given, path)
        given = inner.take("image")
        _check_mask(inner)
    if not given and init is not None:
        return init, (Guess(assumed=_INIT_IMAGE, reason="a ControlNet unit without an image", option=path),)
    if not isinstance(given, str) or not given:
        raise invalid(path, "a control image in base64 is needed")
    return image_bytes(given, path), ()


def _type(fields: Fields) -> ControlType | None:
    """What a union ControlNet is told."""
    said = fields.text("union_control_type").lower().replace(" ", "")
    name = _TYPES.get(said, said)
    if name in ("", "unknown", "all"):
        return None
    if name not in CONTROL_TYPES:
        raise invalid(fields.path("union_control_type"), f"{shown(said)} is not one of {', '.join(CONTROL_TYPES)}")
    return cast(ControlType, name)


def _check_others(fields: Fields, module: str) -> None:
    _check_mask(fields)
    mode = fields.take("control_mode")
    if mode is not None and str(mode).lower() not in _BALANCED:
        raise invalid(fields.path("control_mode"), f"{shown(mode)} is not supported; Balanced is")
    fields.take("input_image")
    take_without_effect(fields, module)


def _check_mask(fields: Fields) -> None:
    if fields.take("mask") or fields.take("mask_image"):
        raise invalid(fields.path("mask"), "masks of control images are not supported; leave it out")
