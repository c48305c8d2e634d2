"""`mezzotint batch`: process folders or lists of images, and show the status of batches."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.cli.batch.options import (
    EXAMPLES,
    add_job_options,
    add_run_options,
    job_of,
    refuse_run_options,
    with_batch_size,
)
from mezzotint.cli.command_options import add_command, add_json
from mezzotint.cli.context import PARTLY_DONE, Context

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

BELOW = ("run", "status", "report", "merge")


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    parser = add_command(commands, "batch", "Generate images from a folder or a list.", examples=EXAMPLES)
    below = parser.add_subparsers(title="commands", metavar="COMMAND", dest="batch_command", required=True)
    running = add_command(below, "run", "Generate the missing images (`run` may be left out).", run, EXAMPLES)
    add_job_options(running)
    add_run_options(running)
    status = add_command(below, "status", "Show the status of the batch in an output folder.", show_status)
    add_json(status)
    report = add_command(below, "report", "List the outcome of every image.", show_report)
    report.add_argument("--csv", action="store_true", help="as CSV, with all details")
    report.add_argument("--failed", action="store_true", help="only failed images")
    merging = add_command(below, "merge", "Merge the manifests of all shards, and check them.", merge_shards)
    merging.add_argument("--quick", action="store_true", help="do not read the images to compare their pixels")
    add_json(merging)
    for one in (status, report, merging):
        one.add_argument("folder", metavar="OUT", type=Path, help="the output folder of a batch")


def insert_run_command(words: list[str]) -> list[str]:
    """Return the arguments with `run` inserted if `batch` is followed by a folder or an option."""
    if words[:1] != ["batch"] or words[1:2] in ([], ["-h"], ["--help"]) or words[1] in BELOW:
        return words
    return ["batch", "run", *words[1:]]


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Generate the missing images, or save the job with `--save-job`."""
    job = job_of(arguments)
    if arguments.save_job is not None:
        from mezzotint.cli.batch.save_job import save_job

        refuse_run_options(arguments)
        return save_job(with_batch_size(job, arguments.batch_size), arguments.save_job, context)
    from mezzotint.cli.batch.runner import run_job

    return run_job(job, Path.cwd(), arguments, context)


def show_status(arguments: argparse.Namespace, context: Context) -> int:
    """Print the status of a batch; returns 3 if there are failures."""
    from mezzotint.batch.manifest.ledger import read_ledger
    from mezzotint.batch.manifest.status import lines_of, status_of

    status = status_of(read_ledger(arguments.folder))
    if arguments.json:
        context.terminal.json(status)
    else:
        for line in lines_of(status):
            context.terminal.result(line)
    return PARTLY_DONE if status.failed or status.set_aside else 0


def show_report(arguments: argparse.Namespace, context: Context) -> int:
    """Print one row per task."""
    from mezzotint.batch.manifest.ledger import read_ledger
    from mezzotint.batch.manifest.report import csv_of, table_of

    ledger = read_ledger(arguments.folder)
    for line in csv_of(ledger, arguments.failed) if arguments.csv else table_of(ledger, arguments.failed):
        context.terminal.result(line)
    return 0


def merge_shards(arguments: argparse.Namespace, context: Context) -> int:
    """Merge the manifests of all shards; returns 3 if there are failures, 1 if tasks are missing or conflict."""
    from mezzotint.batch.manifest.ledger import read_ledger
    from mezzotint.batch.manifest.merge import merge

    merged = merge(read_ledger(arguments.folder), check_pixels=not arguments.quick)
    for what, findings in (
        ("missing", merged.missing), ("made twice", merged.duplicates), ("conflict", merged.conflicts),
    ):  # fmt: skip
        for finding in findings:
            context.terminal.message(f"{what}: {finding}")
    if arguments.json:
        context.terminal.json(merged)
    else:
        context.terminal.result(merged.path)
        context.terminal.message(f"{merged.tasks} tasks, {merged.failures} of them failed")
    if not merged.is_whole:
        return 1
    return PARTLY_DONE if merged.failures else 0
