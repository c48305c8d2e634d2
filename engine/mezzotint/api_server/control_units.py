"""Units of A1111's ControlNet extension, translated to our control images."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.names import file_named
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import invalid
from mezzotint.control_protocol import (
    CONTROL_TYPES,
    MAX_CONTROL_WEIGHT,
    MAX_CONTROLS,
    ControlRef,
    ControlType,
    Preprocess,
    check_control,
)
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
_TYPES: Mapping[str, ControlType] = {"softedge": "hed", "normalmap": "normal", "segmentation": "segment"}
_BALANCED = ("balanced", "0", "")
# What changes nothing here: memory is planned, and edges have thresholds of their own.
_NO_MEANING = (
    *("low_vram", "processor_res", "threshold_a", "threshold_b", "pixel_perfect", "resize_mode", "hr_option"),
    *("save_detected_map", "guessmode", "effective_region_mask", "advanced_weighting", "ipadapter_input"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlUnit:
    """A control image in memory, and what it is given to; the reference's `image` is its name in the request."""

    image: bytes
    control: ControlRef


def control_units(fields: Fields, files: Callable[[], Mapping[str, Path]]) -> tuple[ControlUnit, ...]:
    """The units that are enabled. Raises Refusal for one that cannot be done as it says."""
    units = fields.objects("args")
    if len(units) > MAX_CONTROLS:
        raise invalid(fields.path("args"), f"{len(units)} units are too many; at most {MAX_CONTROLS} are possible")
    return tuple(_unit(unit, files) for unit in units if unit.flag("enabled", True))


def _unit(fields: Fields, files: Callable[[], Mapping[str, Path]]) -> ControlUnit:
    field = fields.path("image")
    image = image_bytes(_image(fields), field)
    model = fields.text("model", "None")
    module = fields.text("module", "none").lower()
    if module not in MODULES:
        raise invalid(fields.path("module"), f"{shown(module)} is not here; send what it makes, with module none")
    control = ControlRef(
        image=field,
        model=str(file_named(model, files(), fields.path("model"), "ControlNet", "/controlnet/model_list")),
        weight=fields.number("weight", 1.0, 0, MAX_CONTROL_WEIGHT),
        start=fields.number("guidance_start", 0.0, 0, 1),
        end=fields.number("guidance_end", 1.0, 0, 1),
        type=_type(fields),
        preprocess=MODULES[module],
    )
    _check_others(fields)
    try:
        check_control(control)
    except ValueError as error:
        raise invalid(fields.path("guidance_start"), str(error)) from None
    return ControlUnit(image=image, control=control)


def _image(fields: Fields) -> str:
    """The image, bare or beside a mask in an object."""
    given = fields.take("image") or fields.take("input_image")
    if isinstance(given, dict):
        inner = Fields(given, fields.path("image"))
        given = inner.take("image")
        _check_mask(inner)
    if not isinstance(given, str) or not given:
        raise invalid(fields.path("image"), "a control image in base64 is needed")
    return given


def _type(fields: Fields) -> ControlType | None:
    """What a union ControlNet is told."""
    said = fields.text("union_control_type").lower().replace(" ", "")
    name = _TYPES.get(said, said)
    if name in ("", "unknown", "all"):
        return None
    if name not in CONTROL_TYPES:
        raise invalid(fields.path("union_control_type"), f"{shown(said)} is not one of {', '.join(CONTROL_TYPES)}")
    return cast(ControlType, name)


def _check_others(fields: Fields) -> None:
    _check_mask(fields)
    mode = fields.take("control_mode")
    if mode is not None and str(mode).lower() not in _BALANCED:
        raise invalid(fields.path("control_mode"), f"{shown(mode)} is not supported; Balanced is")
    fields.take("input_image")
    for name in _NO_MEANING:
        fields.take(name)


def _check_mask(fields: Fields) -> None:
    if fields.take("mask") or fields.take("mask_image"):
        raise invalid(fields.path("mask"), "masks of control images are not supported; leave it out")
