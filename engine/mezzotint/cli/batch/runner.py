"""Run a batch, from its job to its exit code; shared by `mezzotint batch` and `mezzotint run`."""

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mezzotint import __version__
from mezzotint.batch.job.job import JobFile
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import SCHEMA_VERSION
from mezzotint.batch.manifest.shards import shard_of
from mezzotint.batch.run.devices import has_card, lease_names, leased
from mezzotint.batch.run.leftovers import sweep
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.run.run import Ended, How, Run, Stream
from mezzotint.batch.run.watch import signatures, watched
from mezzotint.batch.run.workers import (
    EngineWorker,
    ProcessWorker,
    Worker,
    device_environment,
    parsed_devices,
    server_command,
    usual_together,
)
from mezzotint.batch.tasks.counting import expected_tasks
from mezzotint.batch.tasks.tasks import BatchTask, Shard, Skipped, output_folder, tasks_of
from mezzotint.batch_protocol import BatchBegun, BatchEnded
from mezzotint.cli.batch.lines import figures_of
from mezzotint.cli.batch.show import Form, Show, summary
from mezzotint.cli.context import Context
from mezzotint.cli.queue.run import stopped_in_good_order
from mezzotint.errors import Cancelled, MezzotintError, UsageError
from mezzotint.protocol import ModelRef
from mezzotint.trouble import shown

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

PARTLY_DONE = 3


def run_job(job: JobFile, base: Path, arguments: argparse.Namespace, context: Context) -> int:
    """Generate a job's missing images; its paths are relative to `base`. Returns 3 if the manifest has failures."""
    form: Form = "json" if arguments.json else "jsonl" if arguments.jsonl else "paths"
    shard = shard_of(arguments.shard, os.environ)
    devices = None if arguments.devices is None else parsed_devices(arguments.devices)
    if arguments.ray is not None and devices is not None:
        raise UsageError("--ray and --devices both say who works: leave one of them out")
    if arguments.previews and form != "jsonl":
        raise UsageError("--jsonl-previews requires --jsonl")
    if arguments.watch and job.input is None:
        raise UsageError("--watch waits for images in a folder: name that folder")
    if arguments.stop_with_input:
        from mezzotint.cli.input_stop import stop_with_input

        stop_with_input(context.interrupt)
    catalog = context.make_catalog(arguments.models_folder)
    _check_model(job, catalog)
    if arguments.dry_run:
        from mezzotint.cli.batch.dry import show_dry_run

        show_dry_run(job, base, shard, catalog, context, form)
        return 0
    show = Show(context, form, shown(output_folder(job, base)))
    ended = _made(job, base, shard, devices, arguments, catalog, context, show)
    return _finished(ended, context, show)


def _check_model(job: JobFile, catalog: "Catalog") -> None:
    """Raise once for an unknown model, rather than for every image."""
    if job.settings.model is not None:
        catalog.find(ModelRef(id=job.settings.model))


def _made(
    job: JobFile,
    base: Path,
    shard: Shard | None,
    devices: tuple[str, ...] | None,
    arguments: argparse.Namespace,
    catalog: "Catalog",
    context: Context,
    show: Show,
) -> Ended:
    folder, stopped = output_folder(job, base), threading.Event()
    stream = _stream(job, base, shard, stopped, arguments.watch)
    if arguments.previews:
        stream = map(_with_previews, stream)
    together = _together(arguments.batch_size, job)
    with (
        stopped_in_good_order(context),
        Owner.take(folder, shard) as owner,
        show.following(_begun(job, folder, shard, devices)),
        leased(
            [] if arguments.ray else lease_names(devices, job.settings.device, os.environ, has_card),
            waits=arguments.wait,
            tell=lambda words: show.notice("waiting", words),
        ),
        Manifest.open(folder, shard) as manifest,
        _workers(devices, owner, catalog, arguments, context, together, job.settings.device) as workers,
    ):
        _begin(manifest, job, shard, show)
        _beside("sweeping", lambda: sweep(folder, manifest.path.stat().st_mtime, stopped))
        run = Run(
            stream,
            folder,
            manifest,
            workers,
            show,
            how=How(
                existing=job.output.existing,
                retry_failed=arguments.retry_failed,
                waits_for_room=context.terminal.stderr.isatty(),
            ),
            stopping=context.interrupt.asked,
        )
        context.interrupt.last_words = lambda: manifest.release_now(run.under_way())
        context.interrupt.finishes = "this image" if together == 1 else "the images that are being made"
        context.interrupt.soften()
        if not arguments.watch:
            _beside("counting", lambda: _count(job, base, shard, run, manifest))
        try:
            return run.run()
        finally:
            stopped.set()


def _stream(job: JobFile, base: Path, shard: Shard | None, stopped: threading.Event, watch: bool) -> Stream:
    if not watch or job.input is None:
        return tasks_of(job, base=base, shard=shard)
    asked, folder = job.input, output_folder(job, base)
    return watched(job, base=base, shard=shard, stopped=stopped, look=lambda: signatures(asked, base, folder))


def _with_previews(item: BatchTask | Skipped) -> BatchTask | Skipped:
    return replace(item, request=replace(item.request, previews=True)) if isinstance(item, BatchTask) else item


def _count(job: JobFile, base: Path, shard: Shard | None, run: Run, manifest: Manifest) -> None:
    total = expected_tasks(job, base=base, shard=shard)
    run.expect(total)
    manifest.note("counted", {"total": total})


def _begun(job: JobFile, folder: Path, shard: Shard | None, devices: tuple[str, ...] | None) -> BatchBegun:
    return BatchBegun(
        schema_version=SCHEMA_VERSION,
        folder=str(folder),
        title=job.title,
        pid=os.getpid(),
        shard=_part(shard),
        devices=devices or (),
    )


def _part(shard: Shard | None) -> str | None:
    return None if shard is None else f"{shard.index}/{shard.count}"


def _begin(manifest: Manifest, job: JobFile, shard: Shard | None, show: Show) -> None:
    if manifest.cut:
        show.notice("manifest_cut", f"the manifest's last {manifest.cut} bytes were torn by a crash, and cut off")
    part = _part(shard)
    manifest.note(
        "run",
        {
            "schema_version": SCHEMA_VERSION,
            "program_version": __version__,
            "title": job.title,
            "pid": os.getpid(),
            "shard": part,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    )
    if part is not None:
        show.notice("shard", f"this is shard {part}; `mezzotint batch merge` puts all shards together")


@contextlib.contextmanager
def _workers(
    devices: tuple[str, ...] | None,
    owner: Owner,
    catalog: "Catalog",
    arguments: argparse.Namespace,
    context: Context,
    together: int | None,
    device: str | None,
) -> Iterator[list[Worker]]:
    folders: list[Path] = arguments.models_folder
    if arguments.ray is not None:
        from mezzotint.batch.ray.driver import ray_workers

        stopping = context.interrupt.asked
        with ray_workers(
            arguments.ray, catalog, device=device, models_folders=folders, most=together, stopping=stopping
        ) as workers:
            yield workers
    elif devices is None:
        yield [EngineWorker(lambda: context.make_engine(catalog), together)]
    else:
        yield [
            ProcessWorker(
                server_command(owner.hold_of_worker(number), folders),
                device_environment(device),
                most=together or usual_together(device),
            )
            for number, device in enumerate(devices)
        ]


def _together(asked: int | Literal["auto"] | None, job: JobFile) -> int | None:
    """Return the batch size, or None for the device's default."""
    if asked is None:
        return job.output.batch_size
    return None if asked == "auto" else asked


def _beside(name: str, work: Callable[[], object]) -> None:
    """Run `work` in a background thread, ignoring its failures."""

    def quietly() -> None:
        with contextlib.suppress(MezzotintError, OSError):  # the run hits the same error and reports it
            work()

    threading.Thread(target=quietly, name=f"batch: {name}", daemon=True).start()


def _finished(ended: Ended, context: Context, show: Show) -> int:
    is_cut_off = ended.stopped == "interrupted"
    code = context.interrupt.exit_code if is_cut_off else PARTLY_DONE if ended.failures else 0
    show.ended(
        BatchEnded(
            stopped=ended.stopped,
            failures=ended.failures,
            exit_code=code,
            progress=figures_of(ended.progress),
        )
    )
    context.terminal.talk(summary(ended.progress))
    if is_cut_off:
        error = Cancelled("stopped; run the same again to go on")
        error.exit_code = code
        raise error
    return code


def with_base(job: JobFile, folder: str | None) -> JobFile:
    """Return the job with `folder` as its output folder, if given; relative to the current folder, not the job file."""
    if folder is None:
        return job
    return replace(job, output=replace(job.output, folder=str(Path(folder).absolute())))
