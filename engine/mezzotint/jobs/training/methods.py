"""Methods for training: the engine's job, and what the library service tells about datasets and runs."""

from collections.abc import Callable
from pathlib import Path

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import UsageError
from mezzotint.libraries import import_networks
from mezzotint.protocol import IsCancelled, OnEvent
from mezzotint.queue_protocol import OnJobEvent
from mezzotint.rpc.server import Method
from mezzotint.training_protocol import (
    CaptionEdit,
    TrainingCheck,
    TrainingJob,
    TrainingRequest,
    TrainingResult,
    TrainingRunInfo,
    TrainingRuns,
)
from mezzotint.trouble import shown

MakeCatalog = Callable[[], Catalog]


def training_methods(make_catalog: MakeCatalog) -> dict[str, Method]:
    """The library service's methods by name."""
    of = _TrainingMethods(make_catalog)
    return {
        "training_check": Method(params=TrainingRequest, run=of.check, lane="waiting"),
        "training_caption": Method(params=CaptionEdit, run=of.caption),
        "training_runs": Method(params=TrainingRuns, run=of.runs, lane="waiting"),
    }


def train(job: TrainingJob, catalog: Catalog, tell: OnJobEvent, cancelled: IsCancelled) -> TrainingResult:
    """Train, or go on with a training. Raises as TrainingRun.run."""
    import_networks()
    from mezzotint.jobs.training.ladder import free_memory
    from mezzotint.jobs.training.run import TrainingRun

    request = _request(job)
    run = TrainingRun(request, catalog, tell, cancelled)
    try:
        return run.run(resume=job.resume is not None, accept_changes=job.accept_changes)
    finally:
        del run
        free_memory()


def _request(job: TrainingJob) -> TrainingRequest:
    from mezzotint.jobs.training.runs import resumed_request

    if (job.resume is None) == (job.request is None):
        raise UsageError("either a request or the folder of a run is needed, not both")
    if job.request is None:
        return resumed_request(_absolute(job.resume or "", "the run"))
    _absolute(job.request.dataset, "the images")
    _absolute(job.request.output, "the LoRA")
    return job.request


class _TrainingMethods:
    def __init__(self, make_catalog: MakeCatalog) -> None:
        self._make_catalog = make_catalog

    def check(self, request: TrainingRequest, _tell: OnEvent, cancelled: IsCancelled) -> TrainingCheck:
        from mezzotint.jobs.training.checks import check_training

        _absolute(request.dataset, "the images")
        return check_training(request, self._make_catalog(), cancelled)

    def caption(self, edit: CaptionEdit, _tell: OnEvent, _cancelled: IsCancelled) -> str:
        from mezzotint.jobs.training.caption_writing import write_captions

        return str(write_captions(edit))

    def runs(self, asked: TrainingRuns, _tell: OnEvent, _cancelled: IsCancelled) -> tuple[TrainingRunInfo, ...]:
        from mezzotint.jobs.training.runs import read_runs

        return read_runs(str(_absolute(folder, "the runs")) for folder in asked.folders)


def _absolute(name: str, what: str) -> Path:
    path = Path(name)
    if not path.is_absolute() or "\0" in name:
        raise UsageError(f"{shown(name)} is not an absolute path: give that of the folder of {what}")
    return path
