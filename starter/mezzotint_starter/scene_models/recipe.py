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

There is one transformer for both sizes, rather than a base of 128 px with a conditional refiner to 256 px: a step of
the refiner would cost what one at 256 px does (0.28 s an image, against 0.075 s at 128 px), and it would be a second
network of nine million weights. An image of 256 px takes 20 guided steps of 0.18 s and 0.3 s of decoding on one core.
"""

import logging
from collections.abc import Mapping

from diffusers import AutoencoderKL

from mezzotint_starter.export import Parts, build_pipeline, write_folder
from mezzotint_starter.scene_models.autoencoder import psnr_of_things, reconstructions, train_autoencoder
from mezzotint_starter.scene_models.denoising import HALF, train_at
from mezzotint_starter.scene_models.networks import IMAGE_SIDE, build_autoencoder, build_denoiser
from mezzotint_starter.scene_models.plan import ScenePlan
from mezzotint_starter.scene_models.reading import trained_reader
from mezzotint_starter.scene_models.scene_judge_training import make_scene_judge
from mezzotint_starter.scene_models.source import SceneSource, read_source

LOG = logging.getLogger("mezzotint_starter")
DESCRIPTION = "Hundreds of everyday things, animals, food and vehicles, in landscapes by any light and weather."


def run(plan: ScenePlan) -> None:
    """Go through all phases, and write the finished models to `plan.out`."""
    source = read_source(plan.data, plan.seed)
    LOG.info("%d things", len(source.subjects))
    autoencoder, facts = _autoencoder(plan, source)
    reader, accuracy = trained_reader(source, plan.work, steps=plan.reading_steps, device=plan.device, parts=plan.parts)
    make_scene_judge(
        source,
        plan.work,
        plan.out / "judge",
        steps=plan.judge_steps,
        device=plan.device,
        parts=plan.parts,
        examined=4 * plan.measured,
    )
    parts = Parts(
        autoencoder=autoencoder,
        encoder=reader.encoder,
        tokenizer=reader.tokenizer,
        denoiser=build_denoiser(plan.seed),
    )
    _train(plan, source, parts, HALF, plan.half_size_steps, plan.half_size_images)
    _train(plan, source, parts, IMAGE_SIDE, plan.full_size_steps, plan.full_size_images)
    facts |= {"images": plan.full_size_images, "steps": plan.full_size_steps, "reading_accuracy": round(accuracy, 4)}
    write_folder(build_pipeline(parts), plan.out / "dit", model_note(facts))


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


def _train(plan: ScenePlan, source: SceneSource, parts: Parts, side: int, steps: int, count: int) -> None:
    train_at(
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


def model_note(trained: Mapping[str, float]) -> dict[str, object]:
    """Return the content of the model's mezzotint.json."""
    return {
        "name": "starter-dit",
        "family": "pixart",
        "defaults": {"width": IMAGE_SIDE, "height": IMAGE_SIDE, "steps": 20, "guidance_scale": 3.0},
        "description": DESCRIPTION,
        "licence": "Apache-2.0",
        "trained": dict(trained),
    }
