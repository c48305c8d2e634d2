"""Dry run of a batch: what it would generate, row by row, and the totals."""

from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.job.job import JobFile
from mezzotint.batch.tasks.dry_run import json_line, summary, table_head, table_line
from mezzotint.batch.tasks.looking import prepared
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.batch_protocol import DryTotals
from mezzotint.cli.batch.show import Form
from mezzotint.cli.context import Context
from mezzotint.codec import encode
from mezzotint.stages.planning import planned

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog


def show_dry_run(
    job: JobFile, base: Path, shard: Shard | None, catalog: "Catalog", context: Context, form: Form
) -> DryTotals:
    """Print the rows and totals of a dry run; generates and writes nothing."""
    with prepared(job, base, catalog, shard=shard, planned=lambda asked: planned(asked, lambda: catalog)) as run:
        rows = []
        if form == "paths":
            context.terminal.result(table_head())
        for row in run.rows():
            if form == "json":
                rows.append(row)
            else:
                context.terminal.result(json_line(row) if form == "jsonl" else table_line(row))
    totals = run.totals()
    if form == "json":
        context.terminal.json({"rows": encode(rows), "totals": encode(totals)})
    elif form == "jsonl":
        context.terminal.result(json_line(totals))
    context.terminal.talk(summary(totals))
    return totals
