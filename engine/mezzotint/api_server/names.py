"""Names in requests, resolved to what the catalog lists: no path is ever taken from a request."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath

from mezzotint.api_server.refusal import invalid
from mezzotint.families.lora.prompt_tags import without_lora_tags
from mezzotint.images.dialect import from_a1111
from mezzotint.protocol import LoraRef, ModelInfo
from mezzotint.sampling_protocol import SAMPLERS, SCHEDULES
from mezzotint.values.basic import shown, to_float

_HASH = re.compile(r"\[[0-9a-fA-F]{6,64}\]")
_TAG = re.compile(r"<(?:lora|lyco):([^<>]*)>")
_NUMBER = re.compile(r"[-+]?[\d.]{1,20}(?:e[-+]?\d{1,3})?|nan|inf", re.ASCII | re.IGNORECASE)
_MOST_LORAS = 32
_OUR_OWN = ("automatic", "default", "")  # the model's own


def usable(models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The models that generate images by themselves."""
    return tuple(one for one in models if one.problem is None and not one.conditional_refiner)


def model_named(name: str, models: Sequence[ModelInfo], field: str) -> str:
    """The id of a model by its id, title or file name, as A1111's clients write it; raises Refusal for no match."""
    if any(one.id == name for one in models):
        return name
    wanted = without_hash(name).casefold()
    for keys in (_ids, _file_names):
        found = [one.id for one in models if wanted in keys(one)]
        if len(found) == 1:
            return found[0]
        if found:
            raise invalid(field, f"{shown(name)} fits several models: {', '.join(found[:8])}; use one of these names")
    near = difflib.get_close_matches(wanted[:200], [one.id.casefold() for one in models], n=3, cutoff=0.5)
    advice = f"nearest: {', '.join(near)}" if near else "GET /sdapi/v1/sd-models lists them"
    raise invalid(field, f"no model is called {shown(name)}; {advice}")


def _ids(model: ModelInfo) -> tuple[str, ...]:
    return (model.id.casefold(),)


def _file_names(model: ModelInfo) -> tuple[str, ...]:
    path = PurePath(model.path)
    return path.name.casefold(), path.stem.casefold()


def without_hash(name: str) -> str:
    """The name without a hash in brackets at its end, which A1111 shows behind names, and without blanks around it."""
    name = name.strip()
    start = name.rfind("[")
    return name[:start].rstrip() if start >= 0 and _HASH.fullmatch(name, start) else name


def file_named(name: str, files: Mapping[str, Path], field: str, what: str, listed_by: str) -> Path:
    """The file of that name, with or without suffix and hash; raises Refusal for no match."""
    if name in files:
        return files[name]
    wanted = (name.strip().casefold(), without_hash(name).removesuffix(".safetensors").casefold())
    for known, path in files.items():
        if known.casefold() in wanted:
            return path
    raise invalid(field, f"no {what} is called {shown(name)}; GET {listed_by} lists them")


def sampling_named(sampler: str, scheduler: str) -> tuple[str | None, str | None]:
    """Our names of a sampler and a scheduler; None is the model's own. Raises Refusal for unknown ones."""
    own = (None if one.strip().lower() in _OUR_OWN else one.strip() for one in (sampler, scheduler))
    ours, schedule = from_a1111(*own)
    if ours is not None and ours not in SAMPLERS:
        raise invalid("sampler_name", f"{shown(ours)} is not known; known are {', '.join(SAMPLERS.values())}")
    if schedule is not None and schedule not in SCHEDULES:
        raise invalid("scheduler", f"{shown(schedule)} is not known; known are {', '.join(SCHEDULES.values())}")
    return ours, schedule


def loras_named(prompt: str, loras: Callable[[], Mapping[str, Path]]) -> tuple[str, tuple[LoraRef, ...]]:
    """The prompt without its <lora:NAME:WEIGHT> tags, and the files that these name. Raises Refusal for others."""
    tags = [match[1] for match in _TAG.finditer(prompt)]
    if len(tags) > _MOST_LORAS:
        raise invalid("prompt", f"it has {len(tags)} <lora:...> tags; at most {_MOST_LORAS} are possible")
    files = loras() if tags else {}
    return without_lora_tags(prompt), tuple(_lora(tag, files) for tag in tags)


def _lora(tag: str, loras: Mapping[str, Path]) -> LoraRef:
    name, numbers = _name_and_weights(tag, loras)
    path = file_named(name, loras, "prompt", "LoRA", "/sdapi/v1/loras")
    weights = set(numbers) or {1.0}
    weight = weights.pop()
    if weights or not -100 <= weight <= 100:  # false for NaN
        raise invalid("prompt", f"{shown(tag)} must have one weight from -100 to 100, such as <lora:style:0.8>")
    return LoraRef(path=str(path), weight=weight)


def _name_and_weights(tag: str, loras: Mapping[str, Path]) -> tuple[str, list[float]]:
    """The parts of a tag; a name may contain colons."""
    name, numbers = tag, list[float]()
    while name not in loras and ":" in name:
        head, _, last = name.rpartition(":")
        if not _NUMBER.fullmatch(last.strip()):
            break
        name = head
        numbers.append(to_float(last.strip()))
    return name, numbers
