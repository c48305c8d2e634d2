"""The prompts of a stage and their embeddings, computed once."""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image

from mezzotint.families.family import Conditioning, LoadedModel, PromptInputs
from mezzotint.families.text.conditionings import moved
from mezzotint.protocol import LoraUsed
from mezzotint.stages.images.references import encoder_references
from mezzotint.stages.setup import StageSetup
from mezzotint.stages.tile_sizes import seen_size


def prompt_inputs(
    stage: StageSetup, embeddings: tuple[Path, ...], references: tuple[Image.Image, ...] = ()
) -> PromptInputs:
    """All inputs that determine the output of a stage's text encoders."""
    width, height = seen_size((stage.width, stage.height), stage.tile)
    return PromptInputs(
        prompt=stage.prompt,
        negative_prompt=stage.negative_prompt,
        width=width,
        height=height,
        guidance_scale=stage.sampling.guidance_scale,
        true_cfg_scale=stage.sampling.true_cfg_scale,
        clip_skip=stage.sampling.clip_skip,
        embeddings=embeddings,
        images=encoder_references(stage.family, references),
    )


def encoded(
    model: LoadedModel,
    inputs: PromptInputs,
    loras: Sequence[LoraUsed],
    encode: Callable[[PromptInputs], Conditioning],
) -> Conditioning:
    """Return the conditioning, cached with the model by prompts, LoRAs and embedding files.

    A model quantized further during a job no longer matches its files, so it neither reads nor fills the cache.
    """
    key = _key(inputs, loras)
    known = None if model.lowered else model.prompt_cache.get(key)
    if known is not None:
        return moved(known, model.device)
    conditioning = encode(inputs)
    if not model.lowered:
        model.prompt_cache.put(key, conditioning)
    return conditioning


def _key(inputs: PromptInputs, loras: Sequence[LoraUsed]) -> Hashable:
    stats = [path.stat() for path in inputs.embeddings]
    return (
        replace(inputs, embeddings=(), images=()),
        tuple((image.size, hashlib.sha256(image.tobytes()).digest()) for image in inputs.images),
        tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in zip(inputs.embeddings, stats, strict=True)),
        tuple((lora.file.sha256, lora.weight) for lora in loras),
    )
