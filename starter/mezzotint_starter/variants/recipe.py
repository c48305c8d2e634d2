"""Train variants of starter-dit at twice its size: a dense trunk first, then its network with other architectures.

Their files hold what differs from the trunk's, most of it low-rank changes.
"""

import logging
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from diffusers import AutoencoderKL, PixArtSigmaPipeline, PixArtTransformer2DModel
from torch import Tensor
from transformers import T5EncoderModel

from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint.checkpoints.weight_file import read_weights
from mezzotint.families.architectures.attention_kinds import KINDS
from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.architectures.table import Architecture, stated
from mezzotint.paths import assets_folder
from mezzotint_starter.denoising import Course
from mezzotint_starter.dit_recipe import train_watched
from mezzotint_starter.export import Parts, note
from mezzotint_starter.latents import scene_latents
from mezzotint_starter.networks import IMAGE_SIDE, LATENT, load_network
from mezzotint_starter.plan import Plan
from mezzotint_starter.variants.delta import write_variant
from mezzotint_starter.variants.low_rank import add_low_rank
from mezzotint_starter.variants.teacher import Teacher

LOG = logging.getLogger("mezzotint_starter")
TRUNK = "trunk"
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
SCALE = 2
SIDE = SCALE * IMAGE_SIDE
RATE = 2e-3
BATCH = 8
_LAYERS = r"transformer_blocks\.\d+\.(attn1|attn2|ff|modulation)\..*"
_SMALL = r".*scale_shift_table|pos_embed\.proj\..*|proj_out\..*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """How a variant is trained: for how long, what, and whether each block is to match the teacher's.

    The layers that the regular expression names get changes of that rank; weights that `trained` names, and those that
    the trunk does not have, are trained as they are.
    """

    steps: int
    layers: str
    rank: int = 16  # a sixth of the weights of a square layer
    trained: str = r"transformer_blocks\.\d+\.scale_shift_table"
    matches_blocks: bool = False


WHOLE = Lesson(steps=2000, layers=_LAYERS, rank=8, trained=_SMALL)
# Where only a part of each block is another, the rest is frozen.
LESSONS: Mapping[str, Lesson] = {
    "feed_forward": Lesson(steps=2000, layers=r"transformer_blocks\.\d+\.ff\..*", matches_blocks=True),
    "attention": Lesson(steps=1000, layers=r"transformer_blocks\.\d+\.attn1\..*", matches_blocks=True),
}
TRUNK_LESSON = Lesson(steps=3000, layers=_LAYERS, trained=_SMALL, rank=32)
Network: TypeAlias = PixArtTransformer2DModel  # or a variant


def lesson_of(architecture: Architecture) -> Lesson:
    """How a variant with this architecture is trained."""
    changed = tuple(stated(architecture))
    return LESSONS.get(changed[0], WHOLE) if len(changed) == 1 else WHOLE


def make_trunk(plan: Plan) -> None:
    """Run every unfinished phase of the trunk, and write it to `plan.out`/trunk."""
    pipeline = base_pipeline(plan)
    student = Student.on(weights_of(base_folder(plan)), pipeline, Architecture(), TRUNK_LESSON, seed=plan.seed)
    _train(plan, student, TRUNK, None)
    _write(plan, student, TRUNK, "dit", "Small postcards of 256 pixels, from the network that the variants begin as.")


def make_variant(plan: Plan, name: str) -> None:
    """Run every unfinished phase of a variant, and write it to `plan.out`/NAME."""
    pipeline, weights = base_pipeline(plan), weights_of(base_folder(plan, TRUNK))
    student = Student.on(weights, pipeline, VARIANTS[name], lesson_of(VARIANTS[name]), seed=plan.seed)
    teacher = Teacher(network_on(weights, pipeline, Architecture())[0].to(plan.device))
    compared: AbstractContextManager[None] = nullcontext()
    if student.lesson.matches_blocks:
        compared = teacher.comparing_blocks(student.parts.denoiser)
    with compared:
        _train(plan, student, name, teacher)
    what = ", ".join(f"{field} {kind}" for field, kind in stated(VARIANTS[name]).items())
    _write(plan, student, name, TRUNK, f"Small postcards of 256 pixels, by another architecture: {what}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """A network that is to be trained from a trunk's weights, within the base's parts."""

    parts: Parts
    weights: Mapping[str, Tensor]  # the trunk's
    lesson: Lesson

    @classmethod
    def on(
        cls,
        weights: Mapping[str, Tensor],
        pipeline: PixArtSigmaPipeline,
        architecture: Architecture,
        lesson: Lesson,
        *,
        seed: int,
    ) -> "Student":
        """Build it, with only what the lesson trains not frozen."""
        torch.manual_seed(seed)
        denoiser, new = network_on(weights, pipeline, architecture)
        for name, parameter in denoiser.named_parameters():
            parameter.requires_grad_(name in new or re.fullmatch(lesson.trained, name) is not None)
        kept = {name.removesuffix(".weight") for name in new}
        layers = rf"(?!({'|'.join(map(re.escape, kept))})$){lesson.layers}" if kept else lesson.layers
        add_low_rank(denoiser, layers, lesson.rank)
        LOG.info("%s; %d new weights: %s", stated(architecture) or "dense", len(new), ", ".join(new) or "-")
        parts = Parts(
            autoencoder=pipeline.vae.eval(),
            encoder=pipeline.text_encoder.eval(),
            tokenizer=pipeline.tokenizer,
            denoiser=denoiser,
        )
        return cls(parts=parts, weights=weights, lesson=lesson)


def network_on(
    weights: Mapping[str, Tensor], pipeline: PixArtSigmaPipeline, architecture: Architecture
) -> tuple[Network, tuple[str, ...]]:
    """A float32 network of twice the base's size with these weights, and the names of those that it has alone."""
    config = dict(pipeline.transformer.config) | {"sample_size": SCALE * LATENT, "interpolation_scale": SCALE}
    if not stated(architecture):
        dense = Network.from_config(config)
        dense.load_state_dict(dict(weights))
        return dense, ()
    variant = PixArtVariantTransformer2DModel.from_config(config | {"architecture": stated(architecture)})
    return variant, load_dense(variant, weights)


def base_pipeline(plan: Plan) -> PixArtSigmaPipeline:
    """The pipeline of starter-dit, in float32."""
    encoder = load_network(T5EncoderModel, base_folder(plan) / "text_encoder")
    pipeline = PixArtSigmaPipeline.from_pretrained(base_folder(plan), text_encoder=encoder, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def base_folder(plan: Plan, name: str = "dit") -> Path:
    """The folder of a finished model: the one that the recipe has made, otherwise the bundled one."""
    own = plan.out / name
    return own if (own / "model_index.json").is_file() else assets_folder() / "starter" / name


def weights_of(folder: Path) -> dict[str, Tensor]:
    """The float32 weights of a folder's transformer."""
    file = folder / "transformer" / "diffusion_pytorch_model.safetensors"
    read = read_weights([file], on_bytes=lambda _: None, cancelled=lambda: False)
    return {name: value.float() for name, value in read}


def large_latents(plan: Plan, autoencoder: AutoencoderKL, name: str = "large-of-base", **more: Any) -> Tensor:  # noqa: ANN401
    """The latents of training scenes at 256 pixels, encoded once."""
    return scene_latents(
        autoencoder,
        plan.work / f"latents-{name}.safetensors",  # the base's encoder is rounded to 16 bits
        {"seed": plan.seed, "count": plan.large_images, "side": SIDE} | more,
        partial(training_scene, plan.seed),
        device=plan.device,
        parts=plan.parts,
    )


def _train(plan: Plan, student: Student, name: str, teacher: Teacher | None) -> None:
    steps = student.lesson.steps if plan.variant_steps is None else plan.variant_steps
    course = Course(state=name, steps=steps, rate=RATE, batch=BATCH, precision=plan.precision, teacher=teacher)
    train_watched(plan, student.parts, large_latents(plan, student.parts.autoencoder), course, name=name)


def _write(plan: Plan, student: Student, name: str, trunk: str, description: str) -> None:
    steps = student.lesson.steps if plan.variant_steps is None else plan.variant_steps
    facts = {"images": plan.large_images, "variant_steps": steps, "seed": plan.seed}
    content = note(facts, f"starter-{name.replace('_', '-')}") | {"description": description, "listed": False}
    content["defaults"] = content["defaults"] | {"width": SIDE, "height": SIDE}
    write_variant(plan, student.parts, student.weights, name, trunk, content)
