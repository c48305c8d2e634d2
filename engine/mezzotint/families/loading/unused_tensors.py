"""Tensors of a model's files that no network takes, without those that are known not to be weights of any."""

import re
from collections.abc import Collection, Iterable, Iterator

from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.loading.original_names import layout_of, place

_NOT_WEIGHTS = re.compile(
    "|".join(
        (
            r"(^|\.)(position_ids|logit_scale|logit_bias|inv_freq|num_batches_tracked)$",
            r"^(alphas_cumprod.*|betas|sqrt_.*|log_one_minus_.*|posterior_.*|logvar|lvlb_weights|denoiser\.sigmas)$",
            r"^(model_ema|first_stage_model\.loss)\.",  # averages of the same weights; what judged the VAE
            r"^(scaled_fp8|v_pred|ztsnr|edm_\w+|__\w+__)$",  # marks
            r"(^|\.)(scale_input|input_scale|scale_output|output_scale|comfy_quant)$",
            r"(^|\.)(spiece_model|tekken_model|tokenizer_\w+)$",
            r"(^|\.)(lm_head|visual|vision_model|vision_tower|multi_modal_projector|visual_projection)\.",
            r"^(.+\.)?text_projection(\.weight)?$",  # of encoders whose states are read before it
            r"^((language_)?model\.)*norm\.weight$",  # of encoders that are read before their last layers
        )
    )
)
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")


def unused_tensors(
    names: Iterable[str], taken: Collection[str], sources: ModelSources, group: Collection[ComponentSource]
) -> tuple[str, ...]:
    """The tensors of the group's files that neither it nor, as far as their names tell, another component takes."""
    left = [name for name in names if name not in taken and not _NOT_WEIGHTS.search(name)]
    return tuple(plain(name, 80) for name in _of_none(left, sources, group))


def _of_none(left: Collection[str], sources: ModelSources, group: Collection[ComponentSource]) -> Iterator[str]:
    loaded = {source.name for source in group}
    whole = isinstance(sources.checkpoint, FileCheckpoint) and not any(each.original for each in group)
    layout = layout_of(sources.checkpoint.header.tensors) if isinstance(sources.checkpoint, FileCheckpoint) else None
    others = tuple(
        each.original.prefix
        for each in sources.components.values()
        if each.name not in loaded and each.original and each.original.prefix
    )
    for name in left:
        if others and name.startswith(others):
            continue
        if whole and layout and any(part.component not in loaded for part in place(name, layout)):
            continue
        if not any(_drops(source, name) for source in group):
            yield name


def _drops(source: ComponentSource, name: str) -> bool:
    """Whether a component leaves out a tensor by design: named so, or of layers after those that are read."""
    original, depth = source.original, source.config.get("num_hidden_layers", source.config.get("num_layers"))
    if original is not None and name.startswith(original.prefix) and not original.place(name[len(original.prefix) :]):
        return True
    layer = _LAYER.search(name)
    reads = depth if source.name.startswith("text_encoder") and isinstance(depth, int) else None
    return reads is not None and layer is not None and int(layer[1]) >= reads
