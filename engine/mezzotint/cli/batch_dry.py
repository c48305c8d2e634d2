"""What a batch would make, row by row, and what that takes."""

from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.dry_run import DryRun, DryTotals, json_line, summary, table_head, table_line
from mezzotint.batch.estimate import Sizes, Times
from mezzotint.batch.found import is_taken
from mezzotint.batch.job import JobFile
from mezzotint.batch.known import KnownTasks
from mezzotint.batch.tasks import BatchTask, Shard, output_folder
from mezzotint.cli.batch_show import Form
from mezzotint.cli.context import Context
from mezzotint.codec import encode
from mezzotint.jobs.store import JobStore
from mezzotint.stages.planning import planned

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog


def show_dry_run(
    job: JobFile, base: Path, shard: Shard | None, catalog: "Catalog", context: Context, form: Form
) -> DryTotals:
    """Print it; nothing is made, and nothing written."""
    folder = output_folder(job, base)
    known = KnownTasks.read(folder)

    def is_done(task: BatchTask) -> bool:
        found = known.get(task.key)
        return found.status == "done" and is_taken(folder / found.output)

    with JobStore.open().store as store:
        run = DryRun(
            job,
            base,
            sizes=Sizes(catalog.find, catalog.default()),
            times=Times(
                store.expected, lambda asked: planned(asked, lambda: catalog), default_model=catalog.default().id
            ),
            shard=shard,
            is_done=is_done,
        )
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
