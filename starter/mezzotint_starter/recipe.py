"""The whole recipe: the phases of each model; each phase resumes from its state in the work folder."""

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from diffusers import AutoencoderKL

from mezzotint.training.distributed import Processes
from mezzotint_starter.autoencoder import reconstruction_psnr, train_autoencoder
from mezzotint_starter.decoder_training import PerceptualLoss, train_decoder
from mezzotint_starter.dit_recipe import make_dit
from mezzotint_starter.flow.flow_recipe import make_flow
from mezzotint_starter.judge_training import make_judge
from mezzotint_starter.networks import build_autoencoder
from mezzotint_starter.perceptual import train_perception
from mezzotint_starter.plan import Plan
from mezzotint_starter.preview_decoder import make_preview_decoder
from mezzotint_starter.upscaler_training import make_upscaler
from mezzotint_starter.variants.recipe import ALL_VARIANTS, TRUNK, VARIANTS, make_trunk, make_variant
from mezzotint_starter.variants.refine import REFINERS, make_refiner
from mezzotint_starter.xl.clip_recipe import make_xl
from mezzotint_starter.xl.control_training import make_control

LOG = logging.getLogger("mezzotint_starter")
MODELS = ("dit", "preview-decoder", "upscaler", "xl", "control", "flow", "judge")
_ALONE = ("judge", "preview-decoder", "upscaler", "control")  # need no autoencoder in training


def run(plan: Plan, only: str | None = None) -> Path:
    """Train all models, or only one, and write each to its folder in `plan.out`; returns `plan.out`.

    Variants, their trunk and conditional refiners are trained only on request, all together as `architectures`.
    """
    started = time.monotonic()
    of_variants: dict[str, Callable[[], None]] = {
        TRUNK: partial(make_trunk, plan),
        **{name: partial(make_variant, plan, name) for name in VARIANTS},
        **{name: partial(make_refiner, plan, name) for name in REFINERS},
    }
    for name, make in of_variants.items():
        if only in (name, ALL_VARIANTS):
            make()
            Processes.of_environment().wait()
    if only != ALL_VARIANTS and only not in of_variants:
        _make_models(plan, only)
    LOG.info("%s is ready after %.1f min", plan.out, (time.monotonic() - started) / 60)
    return plan.out


def _make_models(plan: Plan, only: str | None) -> None:
    makers: dict[str, Callable[[Plan, AutoencoderKL], None]] = {
        "dit": _make_dit,
        "preview-decoder": _make_preview_decoder,
        "upscaler": _make_upscaler,
        "xl": _make_xl,
        "control": _make_control,
        "flow": _make_flow,
        "judge": _make_judge,
    }
    autoencoder = build_autoencoder(plan.seed)
    if only not in _ALONE:
        _make_autoencoder(plan, autoencoder)
    for name in MODELS if only is None else (only,):
        makers[name](plan, autoencoder)
        Processes.of_environment().wait()  # the next may use what the first process has written


def _make_dit(plan: Plan, autoencoder: AutoencoderKL) -> None:
    make_dit(plan, autoencoder, trained_note(plan, autoencoder))


def _make_preview_decoder(plan: Plan, _: AutoencoderKL) -> None:
    make_preview_decoder(plan)


def _make_upscaler(plan: Plan, _: AutoencoderKL) -> None:
    make_upscaler(plan)


def _make_xl(plan: Plan, autoencoder: AutoencoderKL) -> None:
    make_xl(plan, autoencoder, trained_note(plan, autoencoder))


def _make_control(plan: Plan, _: AutoencoderKL) -> None:
    make_control(plan)


def _make_flow(plan: Plan, autoencoder: AutoencoderKL) -> None:
    make_flow(plan, autoencoder, trained_note(plan, autoencoder))


def _make_judge(plan: Plan, _: AutoencoderKL) -> None:
    make_judge(
        plan.work,
        plan.out / "judge",
        seed=plan.seed,
        steps=plan.judge_steps,
        device=plan.device,
        parts=plan.parts,
        examined=plan.examined,
    )


def _make_autoencoder(plan: Plan, network: AutoencoderKL) -> None:
    """Run both phases of the autoencoder: the first fixes the latents, the second trains only the decoder."""
    train_autoencoder(
        network,
        plan.work,
        seed=plan.seed,
        steps=plan.autoencoder_steps,
        device=plan.device,
        parts=plan.parts,
        measured=4 * plan.measured,
    )
    train_decoder(
        network,
        plan.work,
        seed=plan.seed,
        steps=plan.sharpening_steps,
        device=plan.device,
        parts=plan.parts,
        perceptual=_perceptual(plan),
    )


def _perceptual(plan: Plan) -> PerceptualLoss | None:
    if plan.perceptual_weight == 0:
        return None
    perception = train_perception(
        plan.work, seed=plan.seed, steps=plan.perception_steps, device=plan.device, parts=plan.parts
    )
    return PerceptualLoss(perception=perception, weight=plan.perceptual_weight)


def trained_note(plan: Plan, autoencoder: AutoencoderKL) -> dict[str, float]:
    """Return the training facts that every model's mezzotint.json records."""
    psnr = reconstruction_psnr(autoencoder, seed=plan.seed, device=plan.device, images=plan.measured)
    LOG.info("the autoencoder reconstructs held-out images at %.2f dB", psnr)
    return {
        "images": plan.images,
        "autoencoder_steps": plan.autoencoder_steps,
        "sharpening_steps": plan.sharpening_steps,
        "autoencoder_psnr": round(psnr, 2),
        "seed": plan.seed,
    }
