"""The metadata of LoRA files that we write: what they are, for other programs and people; nothing about the dataset.

The six `ss_` keys are those that kohya's scripts always write (SS_METADATA_MINIMUM_KEYS in library/train_util.py),
`modelspec.` ones follow version 1.0.1 of https://github.com/Stability-AI/ModelSpec. Keys that give away folder names or
captions (`ss_dataset_dirs`, `ss_tag_frequency`) are written only if they are given.
"""

import base64
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from PIL import Image

    from mezzotint.families.lora.dialects import Dialect

_THUMBNAIL = 256  # pixels along the longer side


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a LoRA file says about itself."""

    title: str
    trigger_phrase: str = ""  # the words that it was trained with
    text: str = ""  # for people
    author: str = ""
    date: "datetime | None" = None
    thumbnail: "Image.Image | None" = None
    others: Mapping[str, str] = field(default_factory=dict)  # further entries, by their full names


def described(
    description: Description, dialect: "Dialect", ranks: Collection[int], alphas: Collection[float]
) -> dict[str, str]:
    """The entries of a file with layers of these ranks and alphas."""
    spec = {
        "sai_model_spec": "1.0.1",
        "architecture": f"{dialect.architecture}/lora",
        "implementation": dialect.implementation,
        "title": description.title,
        "resolution": dialect.resolution,
        "date": "" if description.date is None else description.date.isoformat(timespec="seconds"),
        "trigger_phrase": description.trigger_phrase,
        "description": description.text,
        "author": description.author,
        "thumbnail": "" if description.thumbnail is None else _data_url(description.thumbnail),
    }
    return {
        "ss_v2": "False",
        "ss_base_model_version": dialect.base_version,
        "ss_network_args": "{}",
        **network_entries(ranks, alphas),
        **{f"modelspec.{name}": text for name, text in spec.items() if text},
        **description.others,
    }


def network_entries(ranks: Collection[int], alphas: Collection[float]) -> dict[str, str]:
    """Those about the network: "Dynamic" is kohya's word for ranks and alphas that differ by layer."""
    return {
        "ss_network_module": "networks.lora",
        "ss_network_dim": str(next(iter(ranks))) if len(set(ranks)) == 1 else "Dynamic",
        "ss_network_alpha": f"{next(iter(alphas)):g}" if len(set(alphas)) == 1 else "Dynamic",
    }


def _data_url(image: "Image.Image") -> str:
    small, data = image.convert("RGB"), io.BytesIO()
    small.thumbnail((_THUMBNAIL, _THUMBNAIL))
    small.save(data, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
