"""What a stage did, with nothing left open."""

from mezzotint.protocol import ModelUsed, ResolvedStage
from mezzotint.stages.schedule import StageSchedule
from mezzotint.stages.setup import StageSetup


def resolved_stage(stage: StageSetup, schedule: StageSchedule, used: ModelUsed) -> ResolvedStage:
    """Every value that a stage used; its LoRAs are not known here."""
    return ResolvedStage(
        model=used,
        width=stage.width,
        height=stage.height,
        prompt=stage.prompt,
        negative_prompt=stage.negative_prompt,
        sampler=stage.scheduler.sampler,
        schedule=stage.scheduler.schedule,
        steps=stage.steps,
        guidance_scale=stage.guidance_scale,
        guidance_rescale=stage.guidance_rescale,
        prediction_type=stage.scheduler.prediction_type,
        zero_terminal_snr=stage.scheduler.zero_terminal_snr,
        clip_skip=stage.clip_skip,
        log_snr_start=schedule.entered_at,
        log_snr_end=schedule.log_snr_cut,
        timesteps=tuple(float(t) for t in schedule.timesteps),
        sigmas=schedule.sigmas,
    )
