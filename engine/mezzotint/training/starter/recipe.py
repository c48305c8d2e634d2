"""The whole recipe, phase by phase; each goes on from what it left in the work folder."""

import logging
import time
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor
from transformers import T5Tokenizer

from mezzotint.training.starter.autoencoder import reconstruction_psnr, train_autoencoder
from mezzotint.training.starter.denoising import Reader, train_denoiser
from mezzotint.training.starter.export import Parts, build_pipeline, export_model
from mezzotint.training.starter.judge_training import EXAMINED, make_judge
from mezzotint.training.starter.latents import training_latents
from mezzotint.training.starter.learner import Learner
from mezzotint.training.starter.networks import build_autoencoder, build_denoiser, build_text_encoder
from mezzotint.training.starter.reading import train_reading
from mezzotint.training.starter.sharpening import train_decoder
from mezzotint.training.starter.sheets import save_sheet
from mezzotint.training.starter.vocabulary import build_tokenizer

LOG = logging.getLogger("mezzotint.training.starter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where the recipe runs and how long each phase is."""

    work: Path
    out: Path
    device: str = "cpu"
    seed: int = 0
    parts: int = 1
    autoencoder_steps: int = 7000
    pictures: int = 14336
    reading_steps: int = 400
    denoiser_steps: int = 5200
    sharpening_steps: int = 600
    judge_steps: int = 900
    examined: int = EXAMINED
    measured: int = 64
    sheet_minutes: float = 6.0


def miniature(work: Path, out: Path, *, steps: int, device: str = "cpu", seed: int = 0) -> Plan:
    """A plan of so few steps in every phase that it only shows that everything runs."""
    return Plan(
        work=work,
        out=out,
        device=device,
        seed=seed,
        autoencoder_steps=steps,
        pictures=32 * steps,
        reading_steps=steps,
        denoiser_steps=steps,
        sharpening_steps=steps,
        judge_steps=steps,
        examined=8,
        measured=4,
        sheet_minutes=float("inf"),
    )


def run(plan: Plan) -> Path:
    """Make the model and write it to `plan.out`; returns that folder."""
    started = time.monotonic()
    parts = _new_parts(plan)
    _autoencoder(plan, parts)
    latents = training_latents(
        parts.autoencoder, plan.work, seed=plan.seed, count=plan.pictures, device=plan.device, parts=plan.parts
    )
    accuracy = _reading(plan, parts)
    _denoiser(plan, parts, latents)
    psnr = _sharpening(plan, parts)
    save_sheet(build_pipeline(parts), plan.work / "sheets" / "last.png")
    export_model(parts, plan.out, trained_note(plan, psnr, accuracy))
    LOG.info("%s is ready after %.1f min", plan.out, (time.monotonic() - started) / 60)
    return plan.out


def run_judge(plan: Plan) -> Path:
    """Make the judge and write it to `plan.out`; returns that folder."""
    make_judge(
        plan.work,
        plan.out,
        seed=plan.seed,
        steps=plan.judge_steps,
        device=plan.device,
        parts=plan.parts,
        examined=plan.examined,
    )
    return plan.out


def trained_note(plan: Plan, psnr: float, accuracy: float) -> dict[str, float]:
    """What is told of the training beside the model."""
    return {
        "steps": plan.denoiser_steps,
        "pictures": plan.pictures,
        "autoencoder_steps": plan.autoencoder_steps,
        "sharpening_steps": plan.sharpening_steps,
        "autoencoder_psnr": round(psnr, 2),
        "reading_accuracy": round(accuracy, 4),
        "seed": plan.seed,
    }


def _new_parts(plan: Plan) -> Parts:
    tokenizer = _tokenizer(plan)
    return Parts(
        autoencoder=build_autoencoder(plan.seed),
        encoder=build_text_encoder(plan.seed, len(tokenizer)),
        tokenizer=tokenizer,
        denoiser=build_denoiser(plan.seed),
    )


def _tokenizer(plan: Plan) -> T5Tokenizer:
    # Learning the pieces is not the same twice (its sums run in parallel): what was learnt first is kept.
    folder = plan.work / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        build_tokenizer(plan.seed).save_pretrained(folder)
    return T5Tokenizer.from_pretrained(folder)


def _autoencoder(plan: Plan, parts: Parts) -> None:
    train_autoencoder(
        parts.autoencoder,
        plan.work,
        seed=plan.seed,
        steps=plan.autoencoder_steps,
        device=plan.device,
        parts=plan.parts,
        measured=4 * plan.measured,
    )
    _tell_psnr(plan, parts)


def _sharpening(plan: Plan, parts: Parts) -> float:
    train_decoder(
        parts.autoencoder,
        plan.work,
        seed=plan.seed,
        steps=plan.sharpening_steps,
        device=plan.device,
        parts=plan.parts,
    )
    return _tell_psnr(plan, parts)


def _tell_psnr(plan: Plan, parts: Parts) -> float:
    psnr = reconstruction_psnr(parts.autoencoder, seed=plan.seed, device=plan.device, pictures=plan.measured)
    LOG.info("the autoencoder gives held-out pictures back at %.2f dB", psnr)
    return psnr


def _reading(plan: Plan, parts: Parts) -> float:
    accuracy = train_reading(
        parts.encoder,
        parts.tokenizer,
        plan.work,
        seed=plan.seed,
        steps=plan.reading_steps,
        device=plan.device,
        parts=plan.parts,
    )
    LOG.info("the text encoder reads %.4f of the attributes rightly", accuracy)
    return accuracy


def _denoiser(plan: Plan, parts: Parts, latents: Tensor) -> None:
    reader = Reader(tokenizer=parts.tokenizer, encoder=parts.encoder, device=plan.device)
    shown = time.monotonic()

    def after(learner: Learner) -> None:
        nonlocal shown
        if time.monotonic() - shown > plan.sheet_minutes * 60:
            _show(plan, parts, learner)
            shown = time.monotonic()

    train_denoiser(
        parts.denoiser,
        reader,
        latents,
        plan.work,
        seed=plan.seed,
        steps=plan.denoiser_steps,
        after=after,
        parts=plan.parts,
    )


def _show(plan: Plan, parts: Parts, learner: Learner) -> None:
    learner.swap_averages()
    learner.network.eval()
    save_sheet(build_pipeline(parts), plan.work / "sheets" / f"{learner.step:06}.png")
    learner.network.train()
    learner.swap_averages()
