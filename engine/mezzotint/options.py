"""All options by name, and option values from the command line, a job file or a request.

Standard library only; `batch/job/settings.py` translates options to requests.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

from mezzotint.errors import UsageError
from mezzotint.option import Group, Option, declared
from mezzotint.request_protocol import (
    MAX_PROMPT,
    REFINE_STEPS,
    REFINER_AT,
    Cascade,
    GenerateRequest,
    Inpaint,
    Output,
    Transition,
)
from mezzotint.sampling_protocol import Sampling
from mezzotint.values.basic import Integer, Listed, ModelName, Number, Path, StyleName, Text
from mezzotint.values.sizes import SIDES, MarginSizes, PixelSize

# Options that are not fields of a request.
_MORE = (
    Option(name="prompt", takes=Text(MAX_PROMPT), group="image", in_jobs=False, help="what the image shows"),
    Option(
        name="style",
        takes=Listed(StyleName()),
        group="image",
        help="a named set of options, as `mezzotint styles list` shows them; options given here come first (may be "
        "repeated)",
    ),
    Option(
        name="model",
        takes=ModelName(),
        group="image",
        short="-m",
        help="an id from `mezzotint models list`, or a path",
        default="the bundled starter",
    ),
    Option(
        name="weights",
        takes=Path(),
        group="image",
        help="load the denoiser (U-Net or transformer) from this safetensors or GGUF file, everything else from the "
        "model",
    ),
    Option(
        name="vae",
        takes=Path(),
        group="image",
        help="read the model's VAE from this safetensors file; only of the base model, not of a refiner",
    ),
    Option(
        name="text-encoder",
        takes=Listed(Path()),
        group="image",
        help="read a text encoder of the model from this safetensors or GGUF file; only of the base model (may be "
        "repeated)",
    ),
    Option(name="size", takes=PixelSize(), group="image", help="pixels, such as 1024x768", default="the model's"),
    Option(name="init", takes=Path(), group="image", help="init image, for image to image"),
    Option(
        name="reference",
        takes=Listed(Path()),
        group="image",
        help="a reference image, for models that edit images or combine several, such as FLUX.1 Kontext (may be "
        "repeated; the order matters)",
    ),
    Option(
        name="mask",
        takes=Path(),
        group="inpainting and outpainting",
        help="an image with the aspect ratio of the init image: white is inpainted, black or transparent is preserved",
    ),
    Option(
        name="outpaint",
        takes=MarginSizes(),
        group="inpainting and outpainting",
        help="extend the init image by this many pixels on the left, top, right and bottom, such as 0,0,128,64 or "
        "right=128,bottom=64",
    ),
    Option(
        name="refiner",
        takes=ModelName(),
        group="refiner and hires fix",
        help="a model for the last part of the schedule",
    ),
    Option(
        name="refiner-at",
        takes=Number(0, 1, REFINER_AT, inside=True),
        group="refiner and hires fix",
        help="switch to the refiner after this part of the schedule, or of what an init image leaves of it",
        default=str(REFINER_AT),
    ),
    Option(
        name="refine-with",
        takes=ModelName(),
        group="refiner and hires fix",
        help="a conditional refiner, which then generates the image at twice the size, in overlapping tiles if that is "
        "far larger than it was made for",
    ),
    Option(
        name="refine-steps",
        takes=Integer(1, 1000, REFINE_STEPS),
        group="refiner and hires fix",
        help="steps of the conditional refiner",
        default=str(REFINE_STEPS),
    ),
)
_DECLARING = (GenerateRequest, Inpaint, Sampling, Transition, Output)
_ALL = (*_MORE, *(one for cls in _DECLARING for one in declared(cls).values()))

GROUPS: tuple[Group, ...] = get_args(Group)
OPTIONS: Mapping[str, Option] = {one.name: one for group in GROUPS for one in _ALL if one.group == group}
SETTINGS: Mapping[str, Option] = {name: one for name, one in OPTIONS.items() if one.in_jobs}  # of job files
NOT_IN_MATRIX = ("init", "reference", "mask", "embedding", "outpaint", "text-encoder")
_BY_FIELD = {one.field: one for one in OPTIONS.values()}


class Options:
    """Option values by Python name; `None`, `()` or `False` for those not set."""

    __slots__ = ("_values",)

    def __init__(self, **values: Any) -> None:  # noqa: ANN401  each option has its own type
        unknown = values.keys() - _BY_FIELD.keys()
        if unknown:
            raise TypeError(f"there is no option {sorted(unknown)[0]}")
        self._values = {
            name: value for name, value in values.items() if value is not None and value != _unset_value(name)
        }

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name not in _BY_FIELD:
            raise AttributeError(name)
        return self._values.get(name, _unset_value(name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"

    def replace(self, **values: Any) -> "Options":  # noqa: ANN401
        """A copy with these values replaced."""
        return Options(**(self._values | values))

    def of(self, cls: type) -> dict[str, Any]:
        """The set values of a dataclass that declares options, by field."""
        options = declared(cls)
        return {name: self._values[one.field] for name, one in options.items() if one.field in self._values}

    def each(self) -> Iterator[tuple[Option, Any]]:
        """The set options and values, in the order of the options."""
        return ((one, self._values[one.field]) for one in OPTIONS.values() if one.field in self._values)


def _unset_value(name: str) -> object:
    return _BY_FIELD[name].unset_value


# ---- job files and command line


def to_settings(options: Options) -> dict[str, object]:
    """The set options in job file form."""
    return {one.name: one.takes.to_setting(value) for one, value in options.each() if one.in_jobs}


def to_arguments(options: Options) -> Iterator[str]:
    """The options as command line words, without the prompt; `--option=-value` if a value begins with a hyphen."""
    for one, value in options.each():
        if one.field == "prompt":
            continue
        if isinstance(value, bool):
            yield one.flag if value else f"--no-{one.name}"
            continue
        for word in one.takes.to_arguments(value):
            yield from (f"{one.flag}={word}",) if word.startswith("-") else (one.flag, word)


def read_settings(values: Mapping[str, object], problem: Callable[[str, str], UsageError]) -> Options:
    """Read options from a job file; `problem` makes the error for an invalid setting."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        one = SETTINGS.get(name)
        if one is None:
            raise problem(name, "")
        try:
            found[one.field] = one.takes.read(value)
        except ValueError as error:
            raise problem(name, str(error)) from None
    return Options(**found)


# ---- requests


def options_of(request: GenerateRequest) -> Options:
    """The options that correspond to a request; a cascade may have more stages than options can express."""
    images = {one.role: one.path for one in request.images}
    options = Options(
        **_values_of(request),
        **_of_cascade(request.cascade),
        **_values_of(request.output),
        **_of_inpaint(request.inpaint, "mask" in images),
        prompt=request.prompt,
        init=images.get("init"),
        mask=images.get("mask"),
        reference=tuple(one.path for one in request.images if one.role == "reference"),
    )
    return options if "init" in images else options.replace(strength=None)


def _values_of(part: Any, *, all_of_it: bool = False) -> dict[str, Any]:  # noqa: ANN401  one of those in _DECLARING
    """The fields of a section that differ from its defaults, by the options' Python names."""
    cls: type = type(part)
    defaults = {one.name: one.default for one in fields(part)}
    pairs = ((name, one, getattr(part, name)) for name, one in declared(cls).items())
    return {one.field: value for name, one, value in pairs if all_of_it or value != defaults[name]}


def _of_cascade(cascade: Cascade) -> dict[str, Any]:
    if not cascade.stages:
        return {}
    first = cascade.stages[0]
    found: dict[str, Any] = {
        "model": None if first.model is None else first.model.id,
        "weights": first.weights,
        "vae": None if first.model is None else first.model.vae,
        "text_encoder": () if first.model is None else first.model.text_encoders,
        "size": None if first.width is None or first.height is None else (first.width, first.height),
    }
    found |= _values_of(first.sampling)
    for before, after, transition in zip(cascade.stages, cascade.stages[1:], cascade.transitions, strict=False):
        if transition.refines and after.model is not None:
            found |= {"refine_with": after.model.id, "refine_steps": after.sampling.steps}
            found |= {"condition_noise": after.sampling.condition_noise}
        elif transition.strength is None and after.model is not None:
            found |= {"refiner": after.model.id, "refiner_at": before.until}
        elif transition.strength is not None:
            found |= _values_of(transition, all_of_it=True)
    return found


def _of_inpaint(inpaint: Inpaint | None, has_mask: bool) -> dict[str, Any]:
    if inpaint is None:
        return {}
    margins = tuple(getattr(inpaint, side) for side in SIDES)
    values = _values_of(inpaint, all_of_it=True) if has_mask or any(margins) else {}  # otherwise it has no effect
    return values | ({"outpaint": margins} if any(margins) else {})
