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
from mezzotint.batch.run.run import Ended, Run, RunOptions, Stream
from mezzotint.batch.run.watch import signatures, watched
from mezzotint.batch.run.workers import (
    EngineWorker,
    ProcessWorker,
    Worker,
    default_batch_size,
    device_environment,
    parsed_devices,
    server_command,
)
from mezzotint.batch.tasks.counting import expected_tasks
from mezzotint.batch.tasks.tasks import BatchTask, Shard, Skipped, output_folder, tasks_of
from mezzotint.batch_protocol import BatchBegun, BatchEnded
from mezzotint.cli.batch.json_lines import figures_of
from mezzotint.cli.batch.reporter import BatchReporter, summary
from mezzotint.cli.context import PARTLY_DONE, Context
from mezzotint.cli.queue.run import graceful_signals
from mezzotint.cli.reporter import OutputFormat
from mezzotint.errors import Cancelled, MezzotintError, UsageError
from mezzotint.protocol import ModelRef
from mezzotint.trouble import shown

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog


def run_job(job: JobFile, base: Path, arguments: argparse.Namespace, context: Context) -> int:
    """Generate a job's missing images; its paths are relative to `base`. Returns 3 if the manifest has failures."""
    output_format: OutputFormat = "json" if arguments.json else "jsonl" if arguments.jsonl else "paths"
    shard = shard_of(arguments.shard, os.environ)
    devices = None if arguments.devices is None else parsed_devices(arguments.devices)
    if arguments.ray is not None and devices is not None:
        raise UsageError("--ray and --devices are mutually exclusive: leave one out")
    if arguments.previews and output_format != "jsonl":
        raise UsageError("--jsonl-previews requires --jsonl")
    if arguments.watch and job.input is None:
        raise UsageError("--watch requires an input folder: name it")
    if arguments.stop_with_input:
        from mezzotint.cli.input_stop import stop_with_input

        stop_with_input(context.interrupt)
    catalog = context.make_catalog(arguments.models_folder)
    _check_model(job, catalog)
    if arguments.dry_run:
        from mezzotint.cli.batch.dry_run import show_dry_run

        show_dry_run(job, base, shard, catalog, context, output_format)
        return 0
    reporter = BatchReporter(context, output_format, shown(output_folder(job, base)))
    ended = _run_batch(job, base, shard, devices, arguments, catalog, context, reporter)
    if job.output.grid and ended.stopped == "finished":
        _write_grid(job, base, reporter)
    return _finished(ended, context, reporter)


def _write_grid(job: JobFile, base: Path, reporter: BatchReporter) -> None:
    """Of what there is: shards run elsewhere may still add images, and the last one to end shows them all."""
    from mezzotint.batch.sheet.sheet import write_grid

    reporter.grid(shown(write_grid(job, base)))


def _check_model(job: JobFile, catalog: "Catalog") -> None:
    """Raise once for an unknown model, rather than for every image."""
    if job.settings.model is not None:
        catalog.find(ModelRef(id=job.settings.model))


def _run_batch(
    job: JobFile,
    base: Path,
    shard: Shard | None,
    devices: tuple[str, ...] | None,
    arguments: argparse.Namespace,
    catalog: "Catalog",
    context: Context,
    reporter: BatchReporter,
) -> Ended:
    folder, stopped = output_folder(job, base), threading.Event()
    stream = _stream(job, base, shard, stopped, arguments.watch)
    if arguments.previews:
        stream = map(_with_previews, stream)
    batch_size = _batch_size(arguments.batch_size, job)
    with (
        graceful_signals(context),
        Owner.take(folder, shard) as owner,
        reporter.following(_begun_event(job, folder, shard, devices)),
        leased(
            [] if arguments.ray else lease_names(devices, job.settings.device, os.environ, has_card),
            waits=arguments.wait,
            report=lambda words: reporter.notice("waiting", words),
        ),
        Manifest.open(folder, shard) as manifest,
        _workers(devices, owner, catalog, arguments, context, batch_size, job.settings.device) as workers,
    ):
        _record_start(manifest, job, shard, reporter)
        _in_background("sweeping", lambda: sweep(folder, manifest.path.stat().st_mtime, stopped))
        run = Run(
            stream,
            folder,
            manifest,
            workers,
            reporter,
            options=RunOptions(
                existing=job.output.existing,
                retry_failed=arguments.retry_failed,
                waits_for_room=context.terminal.stderr.isatty(),
            ),
            stopping=context.interrupt.stop_requested,
        )
        context.interrupt.before_exit = lambda: manifest.release_now(run.under_way())
        context.interrupt.unit_of_work = "this image" if batch_size == 1 else "the images that are being made"
        context.interrupt.enable_graceful_stop()
        if not arguments.watch:
            _in_background("counting", lambda: _count(job, base, shard, run, manifest))
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


def _begun_event(job: JobFile, folder: Path, shard: Shard | None, devices: tuple[str, ...] | None) -> BatchBegun:
    return BatchBegun(
        schema_version=SCHEMA_VERSION,
        folder=str(folder),
        title=job.title,
        pid=os.getpid(),
        shard=_shard_name(shard),
        devices=devices or (),
    )


def _shard_name(shard: Shard | None) -> str | None:
    return None if shard is None else f"{shard.index}/{shard.count}"


def _record_start(manifest: Manifest, job: JobFile, shard: Shard | None, reporter: BatchReporter) -> None:
    if manifest.cut:
        reporter.notice(
            "manifest_cut", f"the manifest's last {manifest.cut} bytes were damaged by a crash and are cut off"
        )
    part = _shard_name(shard)
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
        reporter.notice("shard", f"this is shard {part}; `mezzotint batch merge` merges all shards")


@contextlib.contextmanager
def _workers(
    devices: tuple[str, ...] | None,
    owner: Owner,
    catalog: "Catalog",
    arguments: argparse.Namespace,
    context: Context,
    batch_size: int | None,
    device: str | None,
) -> Iterator[list[Worker]]:
    folders: list[Path] = arguments.models_folder
    if arguments.ray is not None:
        from mezzotint.batch.ray.driver import ray_workers

        stopping = context.interrupt.stop_requested
        with ray_workers(
            arguments.ray, catalog, device=device, models_folders=folders, batch_size=batch_size, stopping=stopping
        ) as workers:
            yield workers
    elif devices is None:
        yield [EngineWorker(lambda: context.make_engine(catalog), batch_size)]
    else:
        yield [
            ProcessWorker(
                server_command(owner.hold_of_worker(number), folders),
                device_environment(device),
                batch_size=batch_size or default_batch_size(device),
            )
            for number, device in enumerate(devices)
        ]


def _batch_size(asked: int | Literal["auto"] | None, job: JobFile) -> int | None:
    """Return the batch size, or None for the device's default."""
    if asked is None:
        return job.output.batch_size
    return None if asked == "auto" else asked


def _in_background(name: str, work: Callable[[], object]) -> None:
    """Run `work` in a background thread, ignoring its failures."""

    def quietly() -> None:
        with contextlib.suppress(MezzotintError, OSError):  # the run hits the same error and reports it
            work()

    threading.Thread(target=quietly, name=f"batch: {name}", daemon=True).start()


def _finished(ended: Ended, context: Context, reporter: BatchReporter) -> int:
    is_cut_off = ended.stopped == "interrupted"
    code = context.interrupt.exit_code if is_cut_off else PARTLY_DONE if ended.failures else 0
    reporter.ended(
        BatchEnded(
            stopped=ended.stopped,
            failures=ended.failures,
            exit_code=code,
            progress=figures_of(ended.progress),
        )
    )
    say = context.terminal.failure if ended.failures else context.terminal.message
    say(summary(ended.progress))
    if is_cut_off:
        error = Cancelled("stopped; run the same command to resume")
        error.exit_code = code
        raise error
    return code


def with_output_folder(job: JobFile, folder: str | None) -> JobFile:
    """Return the job with `folder` as its output folder, if given; relative to the current folder, not the job file."""
    if folder is None:
        return job
    return replace(job, output=replace(job.output, folder=str(Path(folder).absolute())))
