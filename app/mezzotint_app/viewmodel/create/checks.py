"""Validation of the Create page: problems that prevent generating, by field."""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from mezzotint.control_protocol import CONTROLLED_FAMILIES, MAX_CONTROLS, SELF_CONTROLLED
from mezzotint.option import declared
from mezzotint.protocol import ModelInfo
from mezzotint.request_protocol import HIRES_SCALE, MAX_COUNT, MAX_SEED
from mezzotint.sampling_protocol import Sampling
from mezzotint.values.basic import Integer, Number
from mezzotint_app.amounts import number_text
from mezzotint_app.viewmodel.create.controls import controls_in_use
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST
from mezzotint_app.viewmodel.create.regions import FAMILIES, regions_in_use
from mezzotint_app.viewmodel.create.sizes import LARGEST_AREA, SMALLEST, multiple_of, own_size, snapped
from mezzotint_app.viewmodel.create.state import CreateSettings, loras_in_use
from mezzotint_app.viewmodel.dropped.described_request import file_name
from mezzotint_app.viewmodel.option_texts import label

translate = QCoreApplication.translate

MOST_LORAS = 32
LARGEST_LORA_WEIGHT = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The values to validate."""

    prompt: str
    negative_prompt: str
    settings: CreateSettings
    seed: int | None
    model: str
    info: ModelInfo | None  # of the model, if it is listed
    model_problem: str | None
    models_known: bool
    refiner_fits: bool
    conditional_refiner_fits: bool
    has_image: bool
    image_problem: str = ""
    references: int = 0  # reference images
    reference_problem: str = ""
    alternatives_problem: str | None = None


def problems(checked: Checked) -> dict[str, str]:
    """Return the first problem of each field; empty if the request is valid."""
    found: dict[str, str] = {}
    for field, message in _problems(checked):
        found.setdefault(field, message)
    return found


def honours_clip_skip(info: ModelInfo | None) -> bool:
    """Whether the model supports clip skip and textual inversion embeddings; unknown models count as such."""
    return info is None or info.family in ("sdxl", "sd15")


def takes_controls(info: ModelInfo | None) -> bool:
    """Whether there are control networks for the model; unknown models count as such."""
    return info is None or (info.family in CONTROLLED_FAMILIES and not info.references)


def _problems(checked: Checked) -> Iterator[tuple[str, str]]:
    yield from _words(checked)
    yield from _model(checked)
    if checked.image_problem:
        yield "image", checked.image_problem
    yield from _references(checked)
    yield from _size(checked)
    yield from _sampling(checked)
    yield from _cascade(checked)
    yield from _loras(checked)
    yield from _controls(checked)
    if regions_in_use(checked.settings.regions) and not follows_regions(checked.info):
        yield "regions", translate("Create", "This model does not support regional prompts. Remove them.")


def follows_regions(info: ModelInfo | None) -> bool:
    """Whether the model supports regional prompts; unknown models count as such."""
    return info is None or info.family in FAMILIES


def _words(checked: Checked) -> Iterator[tuple[str, str]]:
    if not checked.prompt.strip() and not checked.has_image:
        yield "prompt", translate("Create", "Write a prompt first.")
    for field, words in (("prompt", checked.prompt), ("negative_prompt", checked.negative_prompt)):
        if len(words) > LONGEST:
            yield (
                field,
                translate("Create", "{count} characters are too many: the limit is {most}.").format(
                    count=len(words), most=LONGEST
                ),
            )
        if _holds_half_a_character(words):
            yield field, translate("Create", "The text contains an invalid character (half of a pair). Remove it.")
    if checked.alternatives_problem:
        yield "prompt", checked.alternatives_problem


def _holds_half_a_character(words: str) -> bool:
    try:
        words.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _model(checked: Checked) -> Iterator[tuple[str, str]]:
    if not checked.models_known:
        return
    if not checked.model:
        yield "model", translate("Create", "No model yet. Download one or add a folder on the Models page.")
    elif checked.info is None:
        yield (
            "model",
            translate("Create", "The model {name} is no longer installed. Choose another.").format(name=checked.model),
        )
    elif checked.model_problem:
        yield "model", checked.model_problem


def _controls(checked: Checked) -> Iterator[tuple[str, str]]:
    used = controls_in_use(checked.settings.controls)
    if used and not takes_controls(checked.info):
        yield "controls", translate("Create", "This model does not support control images. Switch them off.")
    if len(used) > MAX_CONTROLS:
        message = translate("Create", "{count} control images are too many: the limit is {most}.")
        yield "controls", message.format(count=len(used), most=MAX_CONTROLS)
    is_own = checked.info is not None and (checked.info.family, checked.info.variant) in SELF_CONTROLLED
    waiting = next((one for one in used if not one.model), None)
    if is_own and waiting is None:
        yield "controls", translate("Create", "This model needs a control image without a ControlNet. Add one.")
    elif waiting is not None and not is_own:
        message = translate("Create", "Choose a ControlNet for {name}.")
        yield "controls", message.format(name=file_name(waiting.image))


def _references(checked: Checked) -> Iterator[tuple[str, str]]:
    most = 0 if checked.info is None else checked.info.references
    if checked.info is not None and checked.references > most:
        message = translate("Create", "{name} takes no reference images. Remove them, or choose a model that edits.")
        if most:
            message = translate("Create", "{count} reference images are too many: {name} takes at most {most}.")
        yield "references", message.format(name=checked.info.id, count=checked.references, most=most)
    if checked.reference_problem:
        yield "references", checked.reference_problem


def _size(checked: Checked) -> Iterator[tuple[str, str]]:
    own = own_size(checked.info)
    width = own[0] if checked.settings.width is None else checked.settings.width
    height = own[1] if checked.settings.height is None else checked.settings.height
    multiple = multiple_of(checked.info)
    fitted = snapped(width, multiple), snapped(height, multiple)
    size = f"{width}x{height}"
    if (width, height) != fitted:
        message = translate(
            "Create",
            "{size} is not possible: sides must be multiples of {multiple} and at least {least}. The nearest size is "
            "{near}.",
        )
        near = f"{fitted[0]}x{fitted[1]}"
        yield "size", message.format(size=size, multiple=multiple, least=SMALLEST, near=near)
    if width * height > LARGEST_AREA:
        message = translate("Create", "{size} is too large: the limit is {most} megapixels.")
        yield "size", message.format(size=size, most=LARGEST_AREA >> 20)


def _sampling(checked: Checked) -> Iterator[tuple[str, str]]:
    settings = checked.settings
    for name, one in declared(Sampling).items():
        value, takes = getattr(settings, name), one.takes
        if value is not None and isinstance(takes, Integer | Number) and not takes.low <= value <= takes.high:
            message = translate("Create", "{name} must be from {low} to {high}.")
            yield name, message.format(name=label(one), low=number_text(takes.low), high=number_text(takes.high))
    if not 1 <= settings.count <= MAX_COUNT:
        yield "count", translate("Create", "Number of images must be from 1 to {most}.").format(most=MAX_COUNT)
    if checked.seed is not None and not 0 <= checked.seed <= MAX_SEED - settings.count + 1:
        yield (
            "seed",
            translate("Create", "The seed must be from 0 to {most}.").format(most=MAX_SEED - settings.count + 1),
        )
    if settings.clip_skip and not honours_clip_skip(checked.info):
        yield (
            "clip_skip",
            translate("Create", "This model does not support clip skip. Set it to 0."),
        )
    if settings.embeddings and not honours_clip_skip(checked.info):
        yield "embeddings", translate("Create", "This model does not support embeddings. Remove them.")


def _cascade(checked: Checked) -> Iterator[tuple[str, str]]:
    settings = checked.settings
    if settings.refiner is not None and checked.models_known and not checked.refiner_fits:
        message = translate("Create", "The refiner {name} does not work with this model, or is no longer installed.")
        yield "refiner", message.format(name=settings.refiner)
    if settings.refiner is not None and settings.refiner_at is not None and not 0 < settings.refiner_at < 1:
        yield "refiner_at", translate("Create", "Refiner switch at must be between 0 and 1, such as 0.8.")
    if settings.refine_with is not None and checked.models_known and not checked.conditional_refiner_fits:
        message = translate("Create", "The refiner {name} does not work with this model, or is no longer installed.")
        yield "refine_with", message.format(name=settings.refine_with)
    if not settings.second_pass:
        return
    if settings.second_space != "pixel" and settings.second_upscaler == "lanczos":
        yield (
            "second_upscaler",
            translate("Create", "Lanczos works on pixels. Choose pixels, or another method."),
        )
    scale = HIRES_SCALE if settings.second_scale is None else settings.second_scale
    own = own_size(checked.info)
    area = (settings.width or own[0]) * (settings.height or own[1]) * scale**2
    if area > LARGEST_AREA:
        message = translate("Create", "The hires fix would exceed {most} megapixels.")
        yield "second_scale", message.format(most=LARGEST_AREA >> 20)


def _loras(checked: Checked) -> Iterator[tuple[str, str]]:
    used = loras_in_use(checked.settings)
    if len(used) > MOST_LORAS:
        message = translate("Create", "{count} LoRAs are too many: the limit is {most}.")
        yield "loras", message.format(count=len(used), most=MOST_LORAS)
    if any(not abs(one.weight) <= LARGEST_LORA_WEIGHT for one in used):
        yield (
            "loras",
            translate("Create", "A LoRA's weight must be from {least} to {most}.").format(
                least=number_text(-LARGEST_LORA_WEIGHT), most=number_text(LARGEST_LORA_WEIGHT)
            ),
        )
