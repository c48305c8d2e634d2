"""A stage's record with every value resolved."""

from collections.abc import Sequence
from dataclasses import fields

from mezzotint.protocol import ControlUsed, ModelUsed, ResolvedStage, Sampling
from mezzotint.stages.schedule import StageSchedule
from mezzotint.stages.setup import StageSetup


def resolved_stage(
    stage: StageSetup, schedule: StageSchedule, used: ModelUsed, controls: Sequence[ControlUsed]
) -> ResolvedStage:
    """All values that a stage used; its LoRAs are not known here. `controls`: those of the request."""
    return ResolvedStage(
        model=used,
        width=stage.width,
        height=stage.height,
        prompt=stage.prompt,
        negative_prompt=stage.negative_prompt,
        **{one.name: getattr(stage.sampling, one.name) for one in fields(Sampling)},
        log_snr_start=schedule.entered_at,
        log_snr_end=schedule.log_snr_cut,
        timesteps=tuple(float(t) for t in schedule.timesteps),
        sigmas=schedule.sigmas,
        tile=stage.tile,
        controls=tuple(controls[control.index] for control in stage.controls),
    )
