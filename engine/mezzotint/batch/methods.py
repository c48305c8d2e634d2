"""Library service methods for batches: read and write job files, dry runs, status of output folders."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch_protocol import (
    BatchFolder,
    BatchJob,
    BatchLook,
    BatchStatus,
    BatchTaskPage,
    BatchTasks,
    BatchWrite,
    BatchWritten,
    DrawRequest,
    DryTotals,
    SaveWildcard,
    WildcardFolder,
    WildcardName,
)
from mezzotint.codec import to_json
from mezzotint.errors import UsageError
from mezzotint.library.params import PathParams
from mezzotint.library_protocol import ApplyStyle
from mezzotint.protocol import GenerateRequest, IsCancelled, OnEvent
from mezzotint.rpc.server import Method
from mezzotint.trouble import shown

if TYPE_CHECKING:
    from types import ModuleType

    from mezzotint.batch.manifest.manifest_cache import ManifestCache
    from mezzotint.catalog import Catalog

MOST_BYTES = 4 << 20  # of the largest job that is sent to a window for editing

MakeCatalog = Callable[[], "Catalog"]


def batch_methods(make_catalog: MakeCatalog) -> dict[str, Method]:
    """Return the batch methods by name."""
    of = _BatchMethods(make_catalog)
    return {
        "batch_read": Method(params=PathParams, run=of.read, lane="waiting"),
        "batch_write": Method(params=BatchWrite, run=of.write, lane="waiting"),
        "batch_look": Method(params=BatchLook, run=of.look, job=True),
        "batch_status": Method(params=BatchFolder, run=of.status, lane="waiting"),
        "batch_tasks": Method(params=BatchTasks, run=of.tasks, lane="waiting"),
        "apply_style": Method(params=ApplyStyle, run=of.apply_style),
        "wildcards": Method(params=WildcardFolder, run=lambda asked, *_: _files().names(asked), lane="apart"),
        "wildcard_text": Method(params=WildcardName, run=lambda asked, *_: _files().text_of(asked), lane="apart"),
        "save_wildcard": Method(params=SaveWildcard, run=lambda asked, *_: _files().save(asked), lane="apart"),
        "draw": Method(params=DrawRequest, run=lambda asked, *_: _draw(asked), lane="apart"),
    }


def _files() -> "ModuleType":
    """Loaded on first use."""
    from mezzotint.batch.tasks import wildcard_files

    return wildcard_files


def _draw(asked: DrawRequest) -> tuple[str, ...]:
    from mezzotint.batch.tasks.wildcards import drawn

    return drawn(asked)


class _BatchMethods:
    def __init__(self, make_catalog: MakeCatalog) -> None:
        self._make_catalog = make_catalog
        self._manifests: ManifestCache | None = None

    def apply_style(self, asked: ApplyStyle, _on_event: OnEvent, _cancelled: IsCancelled) -> GenerateRequest:
        from mezzotint.batch.job.styled import restyled

        return restyled(asked.request, asked.style)

    def read(self, asked: PathParams, _on_event: OnEvent, _cancelled: IsCancelled) -> BatchJob:
        from mezzotint.batch.job.reading import read_job
        from mezzotint.batch.job.writing import data_of

        path = _absolute_path(asked.path, "job")
        job = data_of(read_job(path, MOST_BYTES))
        _check_length(job)
        return BatchJob(job=job, base=str(path.parent))

    def write(self, asked: BatchWrite, _on_event: OnEvent, _cancelled: IsCancelled) -> BatchWritten:
        from mezzotint.batch.job.moved import moved
        from mezzotint.batch.job.reading import job_of_data
        from mezzotint.batch.job.writing import write_job

        path, job = _absolute_path(asked.path, "job"), job_of_data(asked.job)
        if asked.base is not None:
            job = moved(job, _absolute_path(asked.base, "folder"), path.parent)
        write_job(job, path, overwrite=asked.overwrite)
        return BatchWritten(path=str(path))

    def look(self, asked: BatchLook, on_event: OnEvent, cancelled: IsCancelled) -> DryTotals:
        from mezzotint.batch.tasks.dry_run_stream import stream_dry_run

        return stream_dry_run(asked, self._make_catalog(), on_event, cancelled)

    def status(self, asked: BatchFolder, _on_event: OnEvent, cancelled: IsCancelled) -> BatchStatus:
        return self._folders().status(asked, cancelled)

    def tasks(self, asked: BatchTasks, _on_event: OnEvent, cancelled: IsCancelled) -> BatchTaskPage:
        return self._folders().tasks(asked, cancelled)

    def _folders(self) -> "ManifestCache":
        """Create on first use; a race between two threads only costs a second read."""
        from mezzotint.batch.manifest.manifest_cache import ManifestCache

        self._manifests = self._manifests or ManifestCache()
        return self._manifests


def _absolute_path(name: str, what: str) -> Path:
    path = Path(name)
    if not path.is_absolute() or "\0" in name:
        raise UsageError(f"{shown(name)} is not an absolute path: give the absolute path of the {what}")
    return path


def _check_length(job: dict[str, object]) -> None:
    if len(to_json(job)) > MOST_BYTES:  # escaped characters may take six bytes
        raise UsageError(
            f"the job is longer than {MOST_BYTES >> 20} MB: put its prompts into a file or a table, or use `mezzotint "
            "run`"
        )
