"""What the makers of a file say of it: safetensors metadata, and files beside it, all of which may be hostile.

Metadata: `modelspec.` of https://github.com/Stability-AI/ModelSpec, `ss_` of kohya's scripts. Beside `x.safetensors`:
`x.civitai.info` (Civitai's record of a version), `x.json` (A1111's user metadata, or Civitai's record),
`x.metadata.json` (ComfyUI's LoRA manager), `x.cm-info.json` (StabilityMatrix, whose names begin with capitals), and
the pictures `x.preview.png`, `x.png` and so on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.strict_json import parse_json_object, read_json_object
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.images.untrusted import real
from mezzotint.library.cards.words import line, paragraph, words
from mezzotint.library_protocol import ModelCard

MOST_SIDECAR = 4 << 20  # bytes
READ = (  # entries of the metadata, and the picture in it
    *(f"modelspec.{name}" for name in ("title", "tags", "trigger_phrase", "description", "architecture", "thumbnail")),
    *("ss_output_name", "ss_base_model_version", "ss_sd_model_name", "ss_tag_frequency", "ss_training_comment"),
)
_SIDECARS = (".civitai.info", ".json", ".metadata.json", ".cm-info.json")
_PICTURES = tuple(f"{middle}.{kind}" for middle in (".preview", "") for kind in ("png", "jpg", "jpeg", "webp"))
_ITS_NAMES = {  # StabilityMatrix's, as Civitai's
    "UserTitle": "model_name",
    "ModelName": "name",
    "ModelDescription": "description",
    "BaseModel": "baseModel",
    "TrainedWords": "trainedWords",
    "Tags": "tags",
}
_USUAL_TAGS = 3  # taken as trigger words if nothing else names any
_SHARE = 0.9  # of the images that must have such a tag


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What one source says; empty where it says nothing."""

    title: str = ""
    base: str = ""
    tags: tuple[str, ...] = ()
    trigger_words: tuple[str, ...] = ()
    weight: float | None = None
    description: str = ""


def with_found(card: ModelCard, path: Path, metadata: Mapping[str, str]) -> ModelCard:
    """The card with what its makers say; files beside it come before its metadata."""
    for said in (*map(_of_file, _beside(path)), _of_metadata(metadata)):
        card = replace(
            card,
            title=card.title or said.title,
            base=card.base or said.base,
            tags=card.tags or said.tags,
            trigger_words=card.trigger_words or said.trigger_words,
            weight=said.weight if card.weight is None else card.weight,
            description=card.description or said.description,
        )
    return replace(card, picture=_picture(path))


def stem_of(path: Path) -> str:
    """The name that files beside it begin with: a model file's without suffix, a folder's whole."""
    return path.stem if path.suffix.lower() in (".safetensors", ".gguf", ".ckpt", ".pt") else path.name


def _beside(path: Path) -> list[Path]:
    return [beside for suffix in _SIDECARS if is_file(beside := path.with_name(stem_of(path) + suffix))]


def _picture(path: Path) -> str | None:
    found = (path.with_name(stem_of(path) + suffix) for suffix in _PICTURES)
    return next((str(one) for one in found if is_file(one)), None)


# ---- files beside it


def _of_file(path: Path) -> _Said:
    """Read one; nothing if it is damaged, as it is only an addition."""
    try:
        data = read_json_object(path, MOST_SIDECAR)
    except (ModelRefused, StorageError):
        return _Said()
    return _of_json(data)


def _of_json(data: Mapping[str, object]) -> _Said:
    """Any of the formats: their names do not contradict each other."""
    data = {_ITS_NAMES.get(name, name): value for name, value in data.items()}
    model, version = _inside(data, "model"), _first_version(data)
    civitai = _inside(data, "civitai")
    about = _inside(civitai, "model")
    triggers = _first(words(data.get("activation text")), *(_triggers(one) for one in (data, version, civitai)))
    return _Said(
        title=line(model.get("name"))
        or line(about.get("name"))
        or line(data.get("model_name"))
        or line(data.get("name")),
        base=_base(_any(data, "baseModel", "base_model", "sd version")) or line(version.get("baseModel")),
        tags=_first(*(words(one.get("tags")) for one in (data, model, about))),
        trigger_words=triggers,
        weight=_weight(data.get("preferred weight")),
        description=_first_text(data.get("description"), model.get("description"), version.get("description")),
    )


def _base(value: object) -> str:
    """The kind of model; empty for A1111's and Civitai's words for none."""
    base = line(value)
    return "" if base.casefold() in ("unknown", "other") else base


def _inside(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _first_version(data: Mapping[str, object]) -> Mapping[str, object]:
    versions = data.get("modelVersions")
    first = versions[0] if isinstance(versions, list) and versions else None
    return first if isinstance(first, dict) else {}


def _triggers(data: Mapping[str, object]) -> tuple[str, ...]:
    """Civitai's list, each entry of which may be a whole prompt."""
    return words(data.get("trainedWords"))


def _any(data: Mapping[str, object], *names: str) -> object:
    return next((data[name] for name in names if data.get(name)), None)


def _first(*found: tuple[str, ...]) -> tuple[str, ...]:
    return next((one for one in found if one), ())


def _first_text(*texts: object) -> str:
    return next((text for one in texts if (text := paragraph(one))), "")


def _weight(value: object) -> float | None:
    number = real(value)
    return number if number is not None and number != 0 and abs(number) <= 10 else None  # 0: not set, in A1111


# ---- metadata


def _of_metadata(metadata: Mapping[str, str]) -> _Said:
    said = {name: metadata.get(f"modelspec.{name}", "") for name in ("title", "tags", "trigger_phrase", "description")}
    base = metadata.get("ss_sd_model_name") if not metadata.get("ss_base_model_version") else None
    return _Said(
        title=line(said["title"]) or line(metadata.get("ss_output_name")),
        base=line(metadata.get("ss_base_model_version") or metadata.get("modelspec.architecture") or base),
        tags=words(said["tags"]),
        trigger_words=words(said["trigger_phrase"]) or _usual_tags(metadata.get("ss_tag_frequency", "")),
        description=paragraph(said["description"]) or paragraph(metadata.get("ss_training_comment")),
    )


def _usual_tags(text: str) -> tuple[str, ...]:
    """The tags that nearly all images of a training had: `{folder: {tag: count}}`."""
    try:
        folders = parse_json_object(text.encode("utf-8", "replace"), "ss_tag_frequency") if text else {}
    except ModelRefused:
        return ()
    counts: dict[str, int] = {}
    for tags in folders.values():
        for tag, count in tags.items() if isinstance(tags, dict) else ():
            if isinstance(count, int) and not isinstance(count, bool) and 0 < count < 1 << 40:
                counts[tag] = counts.get(tag, 0) + count
    most = max(counts.values(), default=0)
    usual = sorted((tag for tag, count in counts.items() if count >= _SHARE * most), key=lambda tag: -counts[tag])
    return words(usual[:_USUAL_TAGS])
