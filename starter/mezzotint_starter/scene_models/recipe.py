"""The recipe for composed scenes: one phase after the other, each resumed from its state in the work folder.

Hours of one core, measured (AVX2, one thread; `--device cuda` runs the same):

| phase | steps | seconds a step | hours |
|---|---|---|---|
| autoencoder | 30,000 of 16 crops of 64 px, at last 4 of 128 px or one of 256 px | 1.45 | 12 |
| text encoder | 1,500 of 128 captions | 0.7 | 0.3 |
| judge | 6,000 of 64 images | 1.1 | 1.9 |
| latents | 65,536 of 128 px, 49,152 of 256 px | 0.03, 0.11 an image | 2 |
| transformer, 128 px | 15,000 of 64 latents | 4.8 | 20 |
| transformer, 256 px | 9,000 of 24 latents | 6.6 | 17 |
| distilling to 8 steps | 1,500 of 16 latents | 10 (estimated) | 4 |
| features, sharper decoder | 1,500 of 64 images, 6,000 of 4 crops of 128 px | 1.1, 2 (estimated) | 4 |

There is one transformer for both sizes, rather than a base of 128 px with a conditional refiner to 256 px: a step of
the refiner would cost what one at 256 px does (0.28 s an image, against 0.075 s at 128 px), and it would be a second
network of nine million weights. An image of 256 px takes 20 guided steps of 0.18 s and 0.3 s of decoding on one core.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diffusers import AutoencoderKL, PixArtSigmaPipeline
from PIL.Image import Image

from mezzotint_starter.export import IN_8_BITS, Parts, build_pipeline, write_folder
from mezzotint_starter.scene_models.autoencoder import psnr_of_things, reconstructions, train_autoencoder
from mezzotint_starter.scene_models.denoising import HALF, draw_in_parts, shown_prompts, train_at
from mezzotint_starter.scene_models.distilling import GUIDANCE, distilled, straight_scheduler
from mezzotint_starter.scene_models.distilling import STEPS as DISTILLED_STEPS
from mezzotint_starter.scene_models.networks import IMAGE_SIDE, build_autoencoder, build_denoiser
from mezzotint_starter.scene_models.plan import ScenePlan
from mezzotint_starter.scene_models.reading import trained_reader
from mezzotint_starter.scene_models.scene_judge import load_scene_judge
from mezzotint_starter.scene_models.scene_judge_training import make_scene_judge
from mezzotint_starter.scene_models.scoring import score, write_scores
from mezzotint_starter.scene_models.sharpening import sharpen
from mezzotint_starter.scene_models.source import SceneSource, read_source
from mezzotint_starter.scene_models.stored_latents import StoredLatents
from mezzotint_starter.sheets import save_sheet

LOG = logging.getLogger("mezzotint_starter")
DESCRIPTION = "Hundreds of everyday things, animals, food and vehicles, in landscapes by any light and weather."


def run(plan: ScenePlan) -> None:
    """Go through all phases, and write the finished models to `plan.out`."""
    source = read_source(plan.data, plan.seed)
    LOG.info("%d things", len(source.subjects))
    autoencoder, facts = _autoencoder(plan, source)
    reader, accuracy = trained_reader(source, plan.work, steps=plan.reading_steps, device=plan.device, parts=plan.parts)
    _judge(plan, source)
    parts = Parts(
        autoencoder=autoencoder,
        encoder=reader.encoder,
        tokenizer=reader.tokenizer,
        denoiser=build_denoiser(plan.seed),
    )
    _train(plan, source, parts, HALF, plan.half_size_steps, plan.half_size_images)
    latents = _train(plan, source, parts, IMAGE_SIDE, plan.full_size_steps, plan.full_size_images)
    facts |= {"images": plan.full_size_images, "steps": plan.full_size_steps, "reading_accuracy": round(accuracy, 4)}
    student = distilled(
        parts, latents, source, plan.work, steps=plan.distilling_steps, device=plan.device, shards=plan.parts
    )
    sharpen(
        autoencoder,
        source,
        plan.work,
        perception_steps=plan.perception_steps,
        steps=plan.sharpening_steps,
        device=plan.device,
        parts=plan.parts,
    )
    _finish(plan, source, Finished(name="dit-guided", parts=parts, steps=20, guidance=GUIDANCE), facts)
    _finish(plan, source, Finished(name="dit", parts=student, steps=DISTILLED_STEPS, guidance=1.0), facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A finished model, and how it is used."""

    name: str
    parts: Parts
    steps: int
    guidance: float

    def pipeline(self) -> PixArtSigmaPipeline:
        """Return it as a diffusers pipeline."""
        pipeline = build_pipeline(self.parts)
        if self.guidance == 1:
            pipeline.scheduler = straight_scheduler()
        return pipeline

    def draw(self, prompts: Sequence[str]) -> list[Image]:
        """Draw images as the model will be used."""
        return draw_in_parts(self.pipeline(), prompts, IMAGE_SIDE, steps=self.steps, guidance_scale=self.guidance)


def _finish(plan: ScenePlan, source: SceneSource, finished: Finished, facts: Mapping[str, float]) -> None:
    save_sheet(finished.draw, plan.work / "sheets" / f"{finished.name}.png", shown_prompts(source, plan.shown))
    judge, values = load_scene_judge(plan.out / "judge")
    scores = score(finished.draw, judge.to(plan.device), values, source, plan.scored)
    write_scores(scores, plan.work / f"scores-{finished.name}.json")
    note = model_note(facts, steps=finished.steps, guidance=finished.guidance)
    write_folder(finished.pipeline(), plan.out / finished.name, note, in_8_bits=(*IN_8_BITS, "transformer"))


def _judge(plan: ScenePlan, source: SceneSource) -> None:
    make_scene_judge(
        source,
        plan.work,
        plan.out / "judge",
        steps=plan.judge_steps,
        device=plan.device,
        parts=plan.parts,
        examined=4 * plan.measured,
    )


def _autoencoder(plan: ScenePlan, source: SceneSource) -> tuple[AutoencoderKL, dict[str, float]]:
    network = build_autoencoder(plan.seed)
    train_autoencoder(
        network,
        source,
        plan.work,
        steps=plan.autoencoder_steps,
        device=plan.device,
        parts=plan.parts,
        measured=plan.measured,
        report_minutes=plan.report_minutes,
    )
    whole, things = psnr_of_things(source, reconstructions(network, source, range(plan.measured // 4), plan.device))
    LOG.info("the autoencoder reconstructs held-out images at %.2f dB, their things at %.2f dB", whole, things)
    return network, {"autoencoder_steps": plan.autoencoder_steps, "autoencoder_psnr": round(whole, 2)}


def _train(plan: ScenePlan, source: SceneSource, parts: Parts, side: int, steps: int, count: int) -> StoredLatents:
    return train_at(
        side,
        parts,
        source,
        plan.work,
        steps=steps,
        count=count,
        device=plan.device,
        shards=plan.parts,
        minutes=2 * plan.report_minutes,
        shown=plan.shown,
    )


def model_note(trained: Mapping[str, float], *, steps: int, guidance: float) -> dict[str, object]:
    """Return the content of the model's mezzotint.json."""
    return {
        "name": "starter-dit",
        "family": "pixart",
        "defaults": {"width": IMAGE_SIDE, "height": IMAGE_SIDE, "steps": steps, "guidance_scale": guidance},
        "description": DESCRIPTION,
        "licence": "Apache-2.0",
        "trained": dict(trained),
    }
