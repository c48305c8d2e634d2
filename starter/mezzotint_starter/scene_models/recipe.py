"""The recipe for composed scenes: one phase after the other, each resumed from its state in the work folder."""

import logging

from mezzotint_starter.scene_models.autoencoder import train_autoencoder
from mezzotint_starter.scene_models.networks import build_autoencoder
from mezzotint_starter.scene_models.plan import ScenePlan
from mezzotint_starter.scene_models.source import read_source

LOG = logging.getLogger("mezzotint_starter")


def run(plan: ScenePlan) -> None:
    """Go through all phases."""
    source = read_source(plan.data, plan.seed)
    LOG.info("%d things", len(source.subjects))
    autoencoder = build_autoencoder(plan.seed)
    train_autoencoder(
        autoencoder,
        source,
        plan.work,
        steps=plan.autoencoder_steps,
        device=plan.device,
        parts=plan.parts,
        measured=plan.measured,
        report_minutes=plan.report_minutes,
    )
