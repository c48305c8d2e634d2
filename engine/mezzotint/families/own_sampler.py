"""The sampler and schedule that a model uses by default."""

from collections.abc import Mapping

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import Checkpoint
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.detected import Detected
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.known import family_of
from mezzotint.families.loading.original_sd15 import sd15_scheduler
from mezzotint.families.loading.original_unet import scheduler_config
from mezzotint.families.samplers import FlowSteps, resolve_scheduler


def own_sampler(checkpoint: Checkpoint, detected: Detected) -> tuple[str, str]:
    """Default sampler and schedule; empty if the checkpoint's scheduler is not supported, which a run reports."""
    try:
        resolved = resolve_scheduler(
            _config(checkpoint, detected),
            sampler=detected.sampler,
            schedule=detected.schedule,
            prediction_type=None,
            zero_terminal_snr=None,
            flow=None if detected.prediction_type != "flow_prediction" else FlowSteps(),
        )
    except (ModelRefused, UsageError):
        return "", ""
    return resolved.sampler, resolved.schedule


def _config(checkpoint: Checkpoint, detected: Detected) -> Mapping[str, object]:
    if isinstance(checkpoint, FolderCheckpoint):
        return checkpoint.components["scheduler"].config
    family = family_of(detected.family)
    if isinstance(family, FlowFamily):
        return family.spec.scheduler.get(detected.variant, {})
    config = sd15_scheduler if detected.family == "sd15" else scheduler_config
    return config(detected.prediction_type, detected.zero_terminal_snr)
