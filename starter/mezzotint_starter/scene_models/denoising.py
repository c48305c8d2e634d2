"""Train the transformer of composed scenes: at half the size first, where a step costs a quarter, then at full size."""

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from diffusers import PixArtSigmaPipeline
from PIL.Image import Image

from mezzotint_starter.denoising import Course, PromptEncoder, train_denoiser
from mezzotint_starter.export import GUIDANCE_SCALE, STEPS, Parts, build_pipeline
from mezzotint_starter.scene_models.networks import IMAGE_SIDE
from mezzotint_starter.scene_models.source import SceneSource
from mezzotint_starter.scene_models.stored_latents import StoredLatents, stored_latents
from mezzotint_starter.scenes.captions import plain_caption, random_caption
from mezzotint_starter.sheets import SampleLogger, draw_samples, save_sheet

AT_ONCE = 8
HALF = IMAGE_SIDE // 2
BATCHES = {HALF: 64, IMAGE_SIDE: 24}
RATES = {HALF: 1.5e-3, IMAGE_SIDE: 6e-4}


def train_at(
    side: int,
    parts: Parts,
    source: SceneSource,
    work: Path,
    *,
    steps: int,
    count: int,
    device: str,
    shards: int,
    minutes: float,
    shown: int,
) -> StoredLatents:
    """Run the phase of one size: latents of `count` scenes, then `steps` steps; returns the latents.

    Sheets of `shown` held-out prompts go to `work`/sheets, every so many minutes and at the end.
    """
    latents = stored_latents(parts.autoencoder, source, work / f"latents-{side}", count=count, side=side, device=device)
    name, prompts = f"denoising-{side}", shown_prompts(source, shown)
    draw = partial(_draw, parts, side)
    samples = SampleLogger(folder=work / "sheets", name=name, minutes=minutes, draw=draw, prompts=prompts)
    train_denoiser(
        parts.denoiser,
        PromptEncoder(tokenizer=parts.tokenizer, encoder=parts.encoder, device=device),
        latents,
        work,
        Course(state=name, steps=steps, rate=RATES[side], batch=BATCHES[side], caption=partial(caption_of, source)),
        seed=source.seed,
        after=samples.after,
        parts=shards,
    )
    save_sheet(draw, work / "sheets" / f"{name}.png", prompts)
    return latents


def caption_of(source: SceneSource, index: int, rng: random.Random) -> str:
    """Return a random caption of a training scene."""
    return random_caption(source.training(index), rng)[0]


def shown_prompts(source: SceneSource, count: int) -> list[str]:
    """Return plain captions of held-out scenes, for sheets."""
    return [plain_caption(source.judging(index)) for index in range(count)]


def _draw(parts: Parts, side: int, prompts: Sequence[str]) -> list[Image]:
    return draw_in_parts(build_pipeline(parts), prompts, side)


def draw_in_parts(
    pipeline: PixArtSigmaPipeline,
    prompts: Sequence[str],
    side: int,
    *,
    steps: int = STEPS,
    guidance_scale: float = GUIDANCE_SCALE,
) -> list[Image]:
    """Generate one image per prompt, eight at once."""
    images: list[Image] = []
    for at in range(0, len(prompts), AT_ONCE):
        some = prompts[at : at + AT_ONCE]
        images += draw_samples(pipeline, some, seed=7 + at, guidance_scale=guidance_scale, steps=steps, side=side)
    return images
