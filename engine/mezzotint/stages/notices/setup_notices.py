"""Notices about a job's setup, as pairs of a code and a line."""

from collections.abc import Iterator, Sequence

from mezzotint.families.lora.prompt_tags import has_lora_tags
from mezzotint.families.text.clip_prompt import has_weights
from mezzotint.families.text.foreign_syntax import embedding_notices, read_as_text
from mezzotint.protocol import GenerateRequest, Sampling
from mezzotint.stages.models.model_notices import model_notices
from mezzotint.stages.refining import tiling_notice
from mezzotint.stages.request_checks import all_prompts
from mezzotint.stages.setup import CascadeSetup, StageSetup
from mezzotint.stages.speedups import why_dense
from mezzotint.stages.tile_sizes import denoise_tiles_notice
from mezzotint.values.prompt_editing import every_text

SetupNotice = tuple[str, str]


def setup_notices(request: GenerateRequest, setup: CascadeSetup, embeddings: Sequence[str]) -> Iterator[SetupNotice]:
    """All notices; `embeddings` are the names of those that are given."""
    if any(has_lora_tags(words) for words in all_prompts(request)):
        yield "lora_tags_ignored", "<lora:...> tags in a prompt are ignored: use --lora FILE"
    for message in model_notices(setup, request.cascade):
        yield "model_assumed", message
    for message in _syntax(setup, embeddings):
        yield "syntax_ignored", message
    for asked, stage in zip(request.cascade.stages, setup.stages, strict=True):
        yield from _of_guidance(asked.sampling, stage)
        yield from (("control_left_out", message) for message in stage.left_out)
        yield from (("assumed", message) for message in stage.assumed)
        yield from _of_tiles(stage)
    yield from _of_weights(setup)


def _syntax(setup: CascadeSetup, embeddings: Sequence[str]) -> Iterator[str]:
    """What the prompts have that no one reads, and embeddings that no prompt uses."""
    regions = (region.prompt for stage in setup.stages for region in stage.regions)
    prompts = [*(words for stage in setup.stages for words in (stage.prompt, stage.negative_prompt)), *regions]
    yield from read_as_text(prompts)
    yield from embedding_notices(prompts, list(embeddings))


def _of_guidance(asked: Sampling, stage: StageSetup) -> Iterator[SetupNotice]:
    if asked.guidance_scale is not None and asked.true_cfg_scale is not None and stage.sampling.true_cfg_scale is None:
        name = stage.found.info.id
        yield "guidance_unused", f"{name} has no distilled guidance: guidance {asked.guidance_scale:g} is not used"
    guidance, true_cfg = stage.sampling.guidance_scale, stage.sampling.true_cfg_scale
    if stage.negative_prompt.strip() and not stage.family.has_halves(stage.sources, guidance, true_cfg):
        is_off = guidance <= 1 and stage.found.detected.guidance == "cfg"
        why = f"guidance is {guidance:g}" if is_off else "the model has embedded guidance, and true CFG is 1"
        yield "negative_ignored", f"{why}: the negative prompt is ignored"


def _of_tiles(stage: StageSetup) -> Iterator[SetupNotice]:
    multiple = stage.family.multiple(stage.sources)
    dense = why_dense(stage.sampling, stage.sources, (stage.height // multiple, stage.width // multiple))
    if dense:
        yield "attention_dense", dense
    if stage.tile and not stage.found.detected.conditional_refiner:
        yield "denoised_in_tiles", denoise_tiles_notice(stage)
    elif stage.tile:
        name, size = stage.found.info.id, (stage.width, stage.height)
        yield "refined_in_tiles", tiling_notice(name, stage.found.detected, size, stage.tile)


def _of_weights(setup: CascadeSetup) -> Iterator[SetupNotice]:
    for stage in setup.stages:
        texts = every_text(stage.prompt, stage.sampling.steps)
        if not stage.family.honours_weights and any(map(has_weights, texts)):
            name = stage.found.info.id
            yield "weights_ignored", f"{name} does not support prompt weights: (word:1.2) is read as text"
            return
