"""The files of a stage's model and their hashes."""

from pathlib import Path

from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.families.control.fitting import is_control
from mezzotint.protocol import IsCancelled, ModelUsed
from mezzotint.stages.setup import StageSetup


def model_used(stage: StageSetup, cache: Path, cancelled: IsCancelled) -> ModelUsed:
    """Hash the files of the model itself, without ControlNets; known hashes come from the cache."""
    info = stage.found.info
    own = (source for name, source in stage.sources.components.items() if not is_control(name))
    files = dict.fromkeys(path for source in own for path in source.files)
    return ModelUsed(
        id=info.id,
        family=info.family,
        variant=info.variant,
        path=info.path,
        files=tuple(fingerprint(path, cache, cancelled=cancelled) for path in with_trunks(files)),
    )
