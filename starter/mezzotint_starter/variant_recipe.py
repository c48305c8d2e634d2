"""Train variants of starter-dit: the same model with another architecture, from its weights."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from diffusers import PixArtSigmaPipeline

from mezzotint.families.architectures.attention_kinds import KINDS
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.architectures.table import Architecture
from mezzotint.paths import assets_folder
from mezzotint_starter.dit_recipe import train_watched
from mezzotint_starter.export import Parts, export_model
from mezzotint_starter.latents import training_latents
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.plan import Plan

LOG = logging.getLogger("mezzotint_starter")
VARIANTS: Mapping[str, Architecture] = {
    "reversible": Architecture(trunk="reversible"),
    **{kind: Architecture(attention=kind) for kind in KINDS},
}
RATE = 1e-3  # half of starter-dit's, whose weights are the start


def make_variant(plan: Plan, name: str) -> None:
    """Run every unfinished phase of a variant, and write it to `plan.out`/NAME."""
    parts = variant_parts(base_folder(plan), VARIANTS[name])
    latents = training_latents(
        parts.autoencoder,
        plan.work / "latents-of-base.safetensors",  # the base's encoder is rounded to 16 bits
        seed=plan.seed,
        count=plan.images,
        side=IMAGE_SIDE,
        device=plan.device,
        parts=plan.parts,
    )
    train_watched(plan, parts, latents, name=name, steps=plan.variant_steps, state=name, rate=RATE)
    facts = {"images": plan.images, "variant_steps": plan.variant_steps, "seed": plan.seed}
    export_model(parts, plan.out / name, facts, name=f"starter-{name}")


def base_folder(plan: Plan) -> Path:
    """The folder of starter-dit: the one that the recipe has made, otherwise the bundled one."""
    own = plan.out / "dit"
    return own if own.is_dir() else assets_folder() / "starter" / "dit"


def variant_parts(folder: Path, architecture: Architecture) -> Parts:
    """The base's parts in float32, with its transformer's weights in another architecture.

    Of the ways to scale what blocks add, leaving it as it is came nearest to the base after a hundred steps.
    """
    pipeline = PixArtSigmaPipeline.from_pretrained(folder, local_files_only=True)
    config = dict(pipeline.transformer.config) | {"architecture": asdict(architecture)}
    denoiser = PixArtVariantTransformer2DModel.from_config(config)
    denoiser.load_state_dict(denoiser.state_dict() | pipeline.transformer.state_dict())
    LOG.info("a variant of %s: %s", folder, asdict(architecture))
    return Parts(
        autoencoder=pipeline.vae.eval(),
        encoder=pipeline.text_encoder.eval(),
        tokenizer=pipeline.tokenizer,
        denoiser=denoiser,
    )
