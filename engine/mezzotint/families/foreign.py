"""Identifies unsupported models by their tensor names, so that a refusal can say what a file is."""

import re
from collections.abc import Iterable

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.foreign_models import foreign_model
from mezzotint.families.loading.added_parts import lacking

_SD15 = "a Stable Diffusion 1 model"
# The first pattern that matches any tensor name decides, so specific patterns come before general ones; models that
# cannot be run come between the two tables.
_ADDITIONS: tuple[tuple[str, str], ...] = (
    (r"(^|\.)(lora_(down|up|A|B)|hada_w1_a|lokr_w[12]|oft_(blocks|diag|R))(\.|_|$)|^(lora|oft)_(unet|te)", "a LoRA"),
    (r"(^|\.)(input_hint_block|controlnet_cond_embedding|controlnet_blocks)\.|^control_model\.", "a ControlNet"),
    (r"^(ip_adapter|image_proj)\.", "an IP-Adapter"),
    (r"(^|\.)motion_modules\.", "an AnimateDiff motion module"),
    (r"^(emb_params|string_to_param.*|clip_[gl]|<.+>)$", "a textual-inversion embedding"),
)
_PARTS_AND_OTHERS: tuple[tuple[str, str], ...] = (
    (r"(^|\.)joint_blocks\.0\.", "a Stable Diffusion 3 model"),
    (r"(^|\.)single_stream_modulation\.", "a FLUX.2 model"),
    (r"(^|\.)distilled_guidance_layer\.", "a Chroma model"),
    (r"(^|\.)double_blocks\.0\.", "a FLUX model"),
    (r"(^|\.)single_transformer_blocks\.0\.", "a FLUX model"),
    (r"(^|\.)cap_embedder\.", "a Z-Image model"),
    (r"(^|\.)txtfusion\.", "a Krea 2 model"),
    (r"(^|\.)(txt_norm|txt_in)\.", "a Qwen-Image model"),
    (r"(^|\.)(adaln_single\.linear|t_block\.1)\.", "a PixArt network alone"),
    (r"(^|\.)blocks\.0\.cross_attn\.", "a Sana model"),
    (r"^cond_stage_model\.transformer\.", _SD15),
    (r"^cond_stage_model\.model\.", "a Stable Diffusion 2 model"),
    (r"^(model\.diffusion_model\.)?label_emb\.0\.0\.", "an SDXL UNet alone"),
    (r"^add_embedding\.linear_1\.", "an SDXL UNet alone, in the diffusers naming"),
    (r"^(model\.diffusion_model\.)?(input_blocks|down_blocks)\.", "a Stable Diffusion UNet alone"),
    (r"^(first_stage_model\.|vae\.)?decoder\.(conv_in|up)\.|^decoder\.up_blocks\.", "a VAE"),
    (r"(^|\.)text_model\.encoder\.layers\.|(^|\.)transformer\.resblocks\.", "a CLIP text encoder"),
    (r"^(.+\.)?encoder\.block\.0\.layer\.0\.SelfAttention\.", "a T5 text encoder"),
    (r"^(model\.)?layers\.0\.self_attn\.", "a language model"),
    (r"^(model\.)?(conv_first|body\.0|params_ema)\.", "an upscaler"),
)

_PARTS = {
    "its UNet (model.diffusion_model.*)": r"model\.diffusion_model\.input_blocks\.0\.0\.weight",
    "its size conditioning (model.diffusion_model.label_emb.*)": r"model\.diffusion_model\.label_emb\.0\.0\.weight",
    "its text encoders (conditioner.embedders.*)": r"conditioner\.embedders\.[01]\.model\.text_projection",
    "its VAE (first_stage_model.*)": r"first_stage_model\.decoder\.conv_in\.weight",
}
_SD15_PARTS = {
    "its UNet (model.diffusion_model.*)": r"model\.diffusion_model\.input_blocks\.0\.0\.weight",
    "its text encoder (cond_stage_model.transformer.*)": (
        r"cond_stage_model\.transformer\.(text_model\.)?embeddings\.token_embedding\.weight"
    ),
    "its VAE (first_stage_model.*)": r"first_stage_model\.decoder\.conv_in\.weight",
}
_FIRST_ENCODER = "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight"
_SECOND_ENCODER = "conditioner.embedders.1.model.text_projection"


def is_sd15(names: Iterable[str]) -> bool:
    """Whether the tensor names are those of a Stable Diffusion 1 checkpoint, and of nothing else."""
    known = tuple(names)
    return any(name.startswith("cond_stage_model.transformer.") for name in known) and kind_of_file(known) == _SD15


def missing_parts(names: Iterable[str]) -> tuple[str, ...]:
    """Components of a complete single-file checkpoint that are missing; it counts as SDXL unless it is SD 1.5."""
    present = set(names)
    parts = _SD15_PARTS if is_sd15(present) else _PARTS
    found = [part for part, pattern in parts.items() if not any(re.fullmatch(pattern, name) for name in present)]
    if _SECOND_ENCODER in present and _FIRST_ENCODER not in present:
        found.append("its first text encoder (conditioner.embedders.0.*)")
    if _FIRST_ENCODER in present and _SECOND_ENCODER not in present:
        found.append("its second text encoder (conditioner.embedders.1.*)")
    return tuple(found)


def kind_of_file(names: Iterable[str]) -> str:
    """Describe what an unsupported file seems to be."""
    known = sorted(names)
    kind = _first(_ADDITIONS, known) or foreign_model(known) or _first(_PARTS_AND_OTHERS, known)
    example = plain(known[0], 80) if known else "nothing"
    return kind or f"a model of no known kind (its tensors are named like {example})"


def _first(table: tuple[tuple[str, str], ...], names: list[str]) -> str | None:
    """The kind of the first pattern that matches a name."""
    return next((kind for pattern, kind in table if any(map(re.compile(pattern).search, names))), None)


def why_not_whole(names: Iterable[str], missing: tuple[str, ...]) -> str:
    """Why an incomplete checkpoint is refused, in one clause."""
    known = tuple(names)
    if any(name.startswith("conditioner.embedders.") for name in known) and any(
        name.startswith("model.diffusion_model.label_emb.") for name in known
    ):
        return f"an SDXL checkpoint that lacks {' and '.join(missing)} cannot be run; {_how_to_add(known)}."
    kind = kind_of_file(known)
    if kind == _SD15:
        return f"{kind} that lacks {' and '.join(missing)} cannot be run; {_how_to_add(known)}."
    if kind == foreign_model(known):
        return f"{kind}, which cannot be run."
    advice = ""
    if kind == "a LoRA":
        advice = "; give it beside a model, with --lora"
    elif lacking(known):
        advice = f"; {_how_to_add(known)}"
    elif "UNet alone" in kind:
        advice = "; it goes into a whole model of its kind with `-m MODEL --weights FILE`"
    return f"{kind} cannot be run by itself{advice}."


def _how_to_add(names: Iterable[str]) -> str:
    options = dict.fromkeys("--vae FILE" if each == "vae" else "--text-encoder FILE" for each in lacking(set(names)))
    given = f"give what it lacks with {' and '.join(options)}, or " if options else ""
    return f"{given}get the whole checkpoint"
