"""Batches in every state on the Batch page, with arbitrary text."""

from batch_window import dry_row, dry_totals, failed_row, progress, status, step

from mezzotint.batch_protocol import BatchOwner, BatchTaskPage, DryRows
from mezzotint_app.viewmodel.batch.form import MatrixRow
from mezzotint_app.viewmodel.batch.state import Batch, KnownBatch


def fill_form(model, words):
    """Fill in every field."""
    model.change(
        source="folder", folder=f"/photos/{words}", masks=f"/masks/{words}", glob="*.png; a*", limit=7, recursive=True,
        prompts=f"at night {words}\nat dawn", prompts_file=f"/w/{words}.txt", table="/w/a.csv", template="a {b}",
        wildcards="/w", sidecars=True, settings={"model": words, "steps": 12}, name="[stem]", format="jpg",
        matrix=(MatrixRow(setting="steps", values="8, 12"), MatrixRow(setting="seed", values="1")),
    )  # fmt: skip


def fill_list(program, words):
    """Add a batch in each state, with the failures of the resting one expanded."""
    states = {
        "running": {
            "stage": "running",
            "progress": progress(1200, total=3000, failed=2, per_second=0.4, seconds_left=4000.0, vram_bytes=7 << 30),
            "step": step(input=f"in/{words}.jpg"),
            "notice": words,
            "silent": True,
        },
        "stopping": {"stage": "stopping"},
        "waiting": {"stage": "waiting"},
        "rests": {"status": status(done=1204, total=3000, failed=2)},
        "trouble": {"status": status(done=12, total=3000, skipped=3), "problem": words},
        "elsewhere": {"status": status(done=1, running=(BatchOwner(pid=7, host=words, since=0.0),))},
        "done": {"status": status(done=3000, total=3000, is_ended=True)},
        "unknown": {"unknown": words},
    }
    known = [KnownBatch(id=name, title=f"{name} {words}", folder=f"/out/{name} {words}") for name in states]
    program.batches_state.change(batches=tuple(known))
    program.batches._batches = {one.id: Batch(known=one, **states[one.id]) for one in known}
    program.batches._logs["trouble"] = (words, "and more")
    program.batches.changed.emit()


def failures(words, count=3):
    """A page of failed tasks."""
    return BatchTaskPage(total=count, rows=tuple(failed_row(one, f"{words} is cut off") for one in range(count)))


def fill_look(model, words):
    """Some rows, and their sum."""
    look = model.dry_run
    look.start({"version": 1}, "/")
    rows = tuple(
        dry_row(number, does=does, input=f"in/{words} {number}.jpg", why=f"so it is: {words}")
        for number, does in enumerate(("make", "rename", "overwrite", "done", "skip", "refuse"))
    )
    look._event(look._number, DryRows(rows=rows))
    totals = dry_totals(
        to_make=3, does=dict.fromkeys(("make", "rename", "overwrite", "done", "skip", "refuse"), 1),
        skipped={"no_mask": 1}, fits=False,
    )  # fmt: skip
    look._done(look._number, totals)
