"""Train variants of starter-dit: the same model with another architecture, from its weights."""

import logging
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers import PixArtSigmaPipeline, PixArtTransformer2DModel

from mezzotint.families.architectures.attention_kinds import KINDS
from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.architectures.table import Architecture, stated
from mezzotint.paths import assets_folder
from mezzotint_starter.dit_recipe import train_watched
from mezzotint_starter.export import Parts, export_model
from mezzotint_starter.latents import training_latents
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.plan import Plan
from mezzotint_starter.variants.teacher import Teacher

LOG = logging.getLogger("mezzotint_starter")
ALL_VARIANTS = "architectures"  # the name of all of them together
VARIANTS: Mapping[str, Architecture] = {
    "reversible": Architecture(trunk="reversible"),
    "gated": Architecture(feed_forward="gated"),
    "mixffn": Architecture(feed_forward="mixffn"),
    "resnet": Architecture(feed_forward="resnet"),
    "depthwise": Architecture(feed_forward="depthwise"),
    "group_shuffle": Architecture(feed_forward="group_shuffle"),
    "spatial": Architecture(feed_forward="spatial"),
    "bottleneck": Architecture(feed_forward="bottleneck"),
    "mbconv": Architecture(feed_forward="mbconv"),
    "rms": Architecture(norm="rms"),
    "adaln_zero": Architecture(modulation="zero"),
    "long_skips": Architecture(skips="long"),
    "pyramid": Architecture(pyramid="merge"),
    "pooled": Architecture(tokens="pooled"),
    "selected": Architecture(tokens="selected"),
    "shared": Architecture(depth="shared"),
    "looped": Architecture(depth="looped"),
    "early_exit": Architecture(depth="early_exit"),
    **{kind: Architecture(attention=kind) for kind in KINDS},
}
RATE = 1e-3  # half of starter-dit's, whose weights are the start


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """How a variant is trained: for how long, which weights, and whether each block is to match the teacher's."""

    steps: int
    trained: str  # regular expression of names
    matches_blocks: bool


WHOLE = Lesson(steps=6000, trained=r".*", matches_blocks=False)
# Where only a part of each block is another, the rest is frozen.
LESSONS: Mapping[str, Lesson] = {
    "feed_forward": Lesson(
        steps=4000, trained=r"transformer_blocks\.\d+\.(ff\..*|scale_shift_table)", matches_blocks=True
    ),
    "attention": Lesson(
        steps=4000, trained=r"transformer_blocks\.\d+\.(attn1\..*|scale_shift_table)", matches_blocks=True
    ),
}


def lesson_of(architecture: Architecture) -> Lesson:
    """How a variant with this architecture is trained."""
    changed = tuple(stated(architecture))
    return LESSONS.get(changed[0], WHOLE) if len(changed) == 1 else WHOLE


def make_variant(plan: Plan, name: str) -> None:
    """Run every unfinished phase of a variant, and write it to `plan.out`/NAME."""
    folder, lesson = base_folder(plan), lesson_of(VARIANTS[name])
    torch.manual_seed(plan.seed)
    parts = variant_parts(folder, VARIANTS[name])
    freeze(parts.denoiser, lesson)
    latents = training_latents(
        parts.autoencoder,
        plan.work / "latents-of-base.safetensors",  # the base's encoder is rounded to 16 bits
        seed=plan.seed,
        count=plan.images,
        side=IMAGE_SIDE,
        device=plan.device,
        parts=plan.parts,
    )
    steps = lesson.steps if plan.variant_steps is None else plan.variant_steps
    teacher = Teacher(PixArtTransformer2DModel.from_pretrained(folder / "transformer").to(plan.device))
    compared: AbstractContextManager[None] = nullcontext()
    if lesson.matches_blocks:
        compared = teacher.comparing_blocks(parts.denoiser)
    with compared:
        train_watched(plan, parts, latents, name=name, steps=steps, state=name, rate=RATE, teacher=teacher)
    facts = {"images": plan.images, "variant_steps": steps, "seed": plan.seed}
    export_model(parts, plan.out / name, facts, name=f"starter-{name}")


def base_folder(plan: Plan) -> Path:
    """The folder of starter-dit: the one that the recipe has made, otherwise the bundled one."""
    own = plan.out / "dit"
    return own if (own / "model_index.json").is_file() else assets_folder() / "starter" / "dit"


def freeze(denoiser: PixArtTransformer2DModel, lesson: Lesson) -> None:
    """Freeze the weights that the lesson does not train."""
    for name, parameter in denoiser.named_parameters():
        parameter.requires_grad_(re.fullmatch(lesson.trained, name) is not None)


def variant_parts(folder: Path, architecture: Architecture) -> Parts:
    """The base's parts in float32, with its transformer's weights in another architecture.

    Of the ways to scale what reversible blocks add, leaving it as it is came nearest to the base after a hundred steps.
    """
    pipeline = PixArtSigmaPipeline.from_pretrained(folder, local_files_only=True)
    config = dict(pipeline.transformer.config) | {"architecture": stated(architecture)}
    denoiser = PixArtVariantTransformer2DModel.from_config(config)
    new = load_dense(denoiser, pipeline.transformer.state_dict())
    LOG.info("a variant of %s: %s; %d new weights: %s", folder, stated(architecture), len(new), ", ".join(new) or "-")
    return Parts(
        autoencoder=pipeline.vae.eval(),
        encoder=pipeline.text_encoder.eval(),
        tokenizer=pipeline.tokenizer,
        denoiser=denoiser,
    )
