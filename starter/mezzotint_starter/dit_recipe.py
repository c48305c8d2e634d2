"""Train starter-dit, phase by phase: tokenizer, latents, text encoder, transformer, export."""

import logging
from collections.abc import Sequence

from diffusers import AutoencoderKL
from PIL.Image import Image
from torch import Tensor
from transformers import T5Tokenizer

from mezzotint.training.distributed import Processes
from mezzotint_starter.denoising import Course, PromptEncoder, train_denoiser
from mezzotint_starter.export import Parts, build_pipeline, export_model
from mezzotint_starter.latents import training_latents
from mezzotint_starter.networks import IMAGE_SIDE, build_denoiser, build_text_encoder
from mezzotint_starter.plan import Plan
from mezzotint_starter.sheets import SampleLogger, draw_samples, save_sheet
from mezzotint_starter.text_encoder_training import train_text_encoder
from mezzotint_starter.vocabulary import build_tokenizer

LOG = logging.getLogger("mezzotint_starter")


def make_dit(plan: Plan, autoencoder: AutoencoderKL, trained: dict[str, float]) -> None:
    """Run every unfinished phase, and write the model to `plan.out`/dit."""
    tokenizer = _tokenizer(plan)
    parts = Parts(
        autoencoder=autoencoder,
        encoder=build_text_encoder(plan.seed, len(tokenizer)),
        tokenizer=tokenizer,
        denoiser=build_denoiser(plan.seed),
    )
    latents = training_latents(
        autoencoder,
        plan.work / "latents.safetensors",
        seed=plan.seed,
        count=plan.images,
        side=IMAGE_SIDE,
        device=plan.device,
        parts=plan.parts,
    )
    accuracy = _text_encoder(plan, parts)
    train_watched(plan, parts, latents, Course(steps=plan.denoiser_steps), name="dit")
    facts = {"steps": plan.denoiser_steps, "reading_accuracy": round(accuracy, 4)}
    export_model(parts, plan.out / "dit", trained | facts)


def _tokenizer(plan: Plan) -> T5Tokenizer:
    # Unigram training is not deterministic (its sums run in parallel), so the first result is kept.
    folder = plan.work / "tokenizer"
    with Processes.of_environment().after_the_first():
        if not (folder / "tokenizer.json").exists():
            build_tokenizer(plan.seed).save_pretrained(folder)
    return T5Tokenizer.from_pretrained(folder)


def _text_encoder(plan: Plan, parts: Parts) -> float:
    accuracy = train_text_encoder(
        parts.encoder,
        parts.tokenizer,
        plan.work,
        seed=plan.seed,
        steps=plan.reading_steps,
        device=plan.device,
        parts=plan.parts,
    )
    LOG.info("the text encoder predicts %.4f of the attributes correctly", accuracy)
    return accuracy


def train_watched(plan: Plan, parts: Parts, latents: Tensor, course: Course, *, name: str) -> None:
    """Train the denoiser on latents; samples are drawn to `plan.work`/sheets/NAME.png now and then, and at the end."""

    def draw(prompts: Sequence[str]) -> list[Image]:
        return draw_samples(build_pipeline(parts), prompts)

    sheets = plan.work / "sheets"
    samples = SampleLogger(folder=sheets, name=name, minutes=plan.sheet_minutes, draw=draw)
    train_denoiser(
        parts.denoiser,
        PromptEncoder(tokenizer=parts.tokenizer, encoder=parts.encoder, device=plan.device),
        latents,
        plan.work,
        course,
        seed=plan.seed,
        after=samples.after,
        parts=plan.parts,
    )
    save_sheet(draw, sheets / f"{name}.png")
