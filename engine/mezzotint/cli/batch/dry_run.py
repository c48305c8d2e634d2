"""Dry run of a batch: what it would generate, row by row, and the totals."""

from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.job.job import JobFile
from mezzotint.batch.tasks.dry_run import json_line, summary, table_head, table_line
from mezzotint.batch.tasks.dry_run_stream import open_dry_run
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.batch_protocol import DryTotals
from mezzotint.cli.context import Context
from mezzotint.cli.reporter import OutputFormat
from mezzotint.codec import encode
from mezzotint.stages.planning import planned

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog


def show_dry_run(
    job: JobFile, base: Path, shard: Shard | None, catalog: "Catalog", context: Context, output_format: OutputFormat
) -> DryTotals:
    """Print the rows and totals of a dry run; generates and writes nothing."""
    with open_dry_run(job, base, catalog, shard=shard, planned=lambda asked: planned(asked, lambda: catalog)) as run:
        rows = []
        if output_format == "paths":
            context.terminal.result(table_head())
        for row in run.rows():
            if output_format == "json":
                rows.append(row)
            else:
                context.terminal.result(json_line(row) if output_format == "jsonl" else table_line(row))
    totals = run.totals()
    if output_format == "json":
        context.terminal.json({"rows": encode(rows), "totals": encode(totals)})
    elif output_format == "jsonl":
        context.terminal.result(json_line(totals))
    context.terminal.message(summary(totals))
    return totals
