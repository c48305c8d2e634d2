"""Matches a model name in an image with the installed models, or finds the most similar one."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace

from mezzotint.protocol import ImageMetadata, ModelInfo, ModelRef
from mezzotint_app.viewmodel.dropped.described_request import file_name

_LIKE = 0.5  # of 1: minimum similarity of two names
_LONGEST = 200  # characters compared
_ENDINGS = re.compile(r"\.(safetensors|sft|ckpt|gguf)$")


def name_in(metadata: ImageMetadata) -> str | None:
    """Return the model name recorded in the image, or None."""
    if metadata.request is None:
        return metadata.model
    stages = metadata.request.cascade.stages
    model = stages[0].model if stages else None
    return model.id if model is not None else None


def is_here(name: str, models: Sequence[ModelInfo]) -> bool:
    """Whether the name refers to one of the models."""
    return any(name in (one.id, one.path) or plain_name(name) == plain_name(one.id) for one in models)


def nearest(name: str, models: Sequence[ModelInfo]) -> ModelInfo | None:
    """Return the usable model with the most similar name, or None if none is similar enough."""
    wanted = plain_name(name)
    scored = [(_likeness(wanted, plain_name(one.id)), one) for one in models if one.problem is None]
    if not scored:
        return None
    score, found = max(scored, key=lambda pair: pair[0])
    return found if score >= _LIKE else None


def plain_name(name: str) -> str:
    """Return the name in lower case without folders, extension and punctuation."""
    last = _ENDINGS.sub("", file_name(name[-_LONGEST:]).lower())
    return re.sub(r"[^0-9a-z]+", " ", last).strip() or last


def with_model(metadata: ImageMetadata, model: str) -> ImageMetadata:
    """Return the metadata with its model replaced."""
    if metadata.request is None:
        return replace(metadata, model=model, model_hash=None)
    cascade = metadata.request.cascade
    if not cascade.stages:
        return metadata
    first = replace(cascade.stages[0], model=ModelRef(id=model))
    request = replace(metadata.request, cascade=replace(cascade, stages=(first, *cascade.stages[1:])))
    return replace(metadata, model=model, model_hash=None, request=request)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
