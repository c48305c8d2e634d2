"""The metadata of LoRA files that we write: what they are, for other programs and people; nothing about the dataset.

The six `ss_` keys are those that kohya's scripts always write (SS_METADATA_MINIMUM_KEYS in library/train_util.py),
`modelspec.` ones follow version 1.0.1 of https://github.com/Stability-AI/ModelSpec. Keys that give away folder names or
captions (`ss_dataset_dirs`, `ss_tag_frequency`) are written only if they are given.
"""

import base64
import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from PIL import Image

    from mezzotint.families.lora.dialects import Dialect
    from mezzotint.families.lora.written import WrittenLayer

_THUMBNAIL = 256  # pixels along the longer side


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a file says about itself."""

    title: str
    trigger_phrase: str = ""  # the words that it was trained with
    text: str = ""  # for people
    author: str = ""
    date: "datetime | None" = None
    thumbnail: "Image.Image | None" = None
    resolution: tuple[int, int] | None = None  # pixels, of the images that it is for
    others: Mapping[str, str] = field(default_factory=dict)  # further entries, by their full names


def described(description: Description, dialect: "Dialect", layers: "Sequence[WrittenLayer]") -> dict[str, str]:
    """The entries of a file with these layers."""
    return {
        "ss_v2": "False",
        "ss_base_model_version": dialect.base_version,
        "ss_network_args": "{}",
        **network_entries([each.rank for each in layers], [_alpha(each, dialect) for each in layers]),
        **_lycoris_entries({each.algorithm for each in layers}),
        **_spec(description, dialect, "lora"),
        **description.others,
    }


def embedding_entries(description: Description, dialect: "Dialect") -> dict[str, str]:
    """The entries of a file with the vectors of a word."""
    return {**_spec(description, dialect, "textual-inversion"), **description.others}


def _spec(description: Description, dialect: "Dialect", kind: str) -> dict[str, str]:
    spec = {
        "sai_model_spec": "1.0.1",
        "architecture": f"{dialect.architecture}/{kind}",
        "implementation": dialect.implementation,
        "title": description.title,
        "resolution": "" if description.resolution is None else "{}x{}".format(*description.resolution),
        "date": "" if description.date is None else description.date.isoformat(timespec="seconds"),
        "trigger_phrase": description.trigger_phrase,
        "description": description.text,
        "author": description.author,
        "thumbnail": "" if description.thumbnail is None else _data_url(description.thumbnail),
    }
    return {f"modelspec.{name}": text for name, text in spec.items() if text}


def network_entries(ranks: Collection[int], alphas: Collection[float]) -> dict[str, str]:
    """Those about the network: "Dynamic" is kohya's word for ranks and alphas that differ by layer."""
    return {
        "ss_network_module": "networks.lora",
        "ss_network_dim": str(next(iter(ranks))) if len(set(ranks)) == 1 else "Dynamic",
        "ss_network_alpha": f"{next(iter(alphas)):g}" if len(set(alphas)) == 1 else "Dynamic",
    }


def _alpha(layer: "WrittenLayer", dialect: "Dialect") -> float:
    """What is written, or meant, as a layer's alpha: without one in the file, it is the rank."""
    return layer.alpha if dialect.is_kohya or layer.algorithm == "lokr" else float(layer.rank)


def _lycoris_entries(algorithms: Collection[str]) -> dict[str, str]:
    """LyCORIS's own entries, for the kinds of layers that it, and not kohya's scripts, has."""
    known = {"lokr": {"algo": "lokr"}, "dora": {"algo": "locon", "dora_wd": "True"}}
    arguments = next((known[each] for each in algorithms if each in known), None)
    if arguments is None:
        return {}
    return {"ss_network_module": "lycoris.kohya", "ss_network_args": json.dumps(arguments)}


def _data_url(image: "Image.Image") -> str:
    small, data = image.convert("RGB"), io.BytesIO()
    small.thumbnail((_THUMBNAIL, _THUMBNAIL))
    small.save(data, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
