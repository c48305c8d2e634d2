"""What is said of a batch is whole, also where little is known."""

from dataclasses import replace
from pathlib import Path

import pytest
from batch_window import dry_totals, failed_row, progress, status, step, task_row
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch_protocol import BatchOwner
from mezzotint_app.viewmodel.batch.state import Batch, KnownBatch
from mezzotint_app.viewmodel.batch.texts import (
    failure_words,
    failures_words,
    fraction,
    is_whole,
    rate_text,
    room_words,
    short_path,
    state_words,
    step_words,
    totals_words,
)

RESTS = Batch(known=KnownBatch(id="1", title="x", folder="/x"))
RUNS = replace(RESTS, stage="running")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (failed_row(3), "3.jpg: it is cut off"),
        (failed_row(3, error="/my photos/in/3.jpg is cut off: 12 bytes"), "3.jpg is cut off: 12 bytes"),
        (failed_row(3, error=r"C:\in\3.jpg is cut off"), "3.jpg is cut off"),
        (failed_row(3, error="cannot read /my photos/in/3.jpg: gone"), "3.jpg: cannot read 3.jpg: gone"),
        (failed_row(3, input=None), "3.png: it is cut off"),
        (task_row(3, status="failed"), "3.jpg: unknown reason"),
    ],
)
def test_what_failed_is_told_by_the_name_of_the_file(row, words):
    assert failure_words(row) == words


def test_the_last_failures_are_named_and_the_others_counted():
    rows = (failed_row(1), failed_row(2))
    batch = replace(RESTS, status=status(done=1, failed=4, set_aside=1, is_ended=True), failures=rows)
    assert failures_words(batch) == "1.jpg: it is cut off\n2.jpg: it is cut off\n3 more failed"
    assert failures_words(replace(batch, failures=())) == ""  # not known yet; the count is told already
    assert failures_words(replace(batch, stage="running", progress=progress(1, failed=5))) == ""


def test_running():
    batch = replace(
        RUNS, progress=progress(1100, already=104, total=3000, failed=2, per_second=0.41, seconds_left=90.0)
    )
    words = state_words(batch, "")
    assert "1204 of 3000 generated" in words and "2 failed" in words and "24.6 images/min" in words and "left" in words
    assert state_words(RUNS, "") == "Starting: loading the model."
    begun = replace(RUNS, progress=progress(0, already=2, total=6))
    assert "2 of 6 generated · loading the model" in state_words(begun, "")
    assert "loaded" not in state_words(replace(begun, step=step()), "") + words
    assert state_words(replace(batch, stage="stopping"), "").endswith("Stops after this image.")
    assert step_words(replace(batch, step=step())) == "in/a.jpg: step 1 of 8"
    assert state_words(replace(RESTS, stage="waiting"), "Waits.") == "Waits."


@pytest.mark.parametrize(
    ("known", "words", "whole"),
    [
        (None, "Nothing generated yet.", False),
        ({"done": 1204, "total": 3000, "failed": 2}, "1204 of 3000 generated, 2 failed. It can be resumed.", False),
        ({"done": 7, "total": None}, "7 generated. It can be resumed.", False),
        ({"done": 4, "total": 4, "is_ended": True}, "4 of 4 generated. All done.", True),
        ({"done": 3, "total": 4, "set_aside": 1, "is_ended": True}, "3 of 4 generated, 1 failed.", False),
        (
            {"done": 3, "total": 4, "skipped": 1, "is_ended": True},
            "3 of 3 generated, 1 skipped. All done.",
            True,
        ),
        (
            {"done": 0, "total": 5, "skipped": 5, "is_ended": True},
            "0 of 0 generated, 5 skipped. No images were generated: Preview shows why.",
            True,
        ),
    ],
)
def test_resting(known, words, whole):
    batch = replace(RESTS, status=None if known is None else status(**known))
    assert state_words(batch, "") == words and is_whole(batch) is whole


def test_another_program_at_work_is_told():
    batch = replace(RESTS, status=status(running=(BatchOwner(pid=7, host="studio", since=0.0),)))
    assert "process 7 on studio" in state_words(batch, "")


COUNTS = st.integers(0, 10**6)


@given(COUNTS, COUNTS, COUNTS, st.none() | COUNTS, st.sampled_from(["running", "stopping", "resting", "waiting"]))
def test_the_part_that_is_done_is_a_part(done, failed, already, total, stage):
    figures = progress(done, failed=failed, already=already, total=total)
    batch = replace(RESTS, stage=stage, progress=figures, status=status(done=done, total=total))
    part = fraction(batch)
    assert part is None or 0 <= part <= 1
    assert state_words(batch, "Waits.")


@given(st.floats(1e-6, 1e4))
def test_a_rate_is_told_so_that_it_says_something(rate):
    assert rate_text(rate)
    assert not rate_text(max(rate, 1 / 3600)).startswith("0.")


def test_totals():
    totals = dry_totals(
        tasks=10,
        to_make=5,
        does={"make": 4, "rename": 1, "done": 2, "refuse": 1, "skip": 5},
        skipped={"no_mask": 2, "twice": 1},
    )
    words = totals_words(totals)
    assert words == (
        "5 to generate, 2 already done, 1 renamed because a file exists, 1 cannot be generated, "
        "2 already exist, 2 skipped (no mask with that name), 1 skipped (listed twice)."
    )
    nothing = replace(totals, tasks=0, to_make=0, does={}, skipped={})
    assert totals_words(nothing) == "Nothing to generate: no image or prompt was found."
    assert room_words(totals) == "It takes about 60 s. The images need about 1.0 MB; 1.0 GB free."
    assert "(estimated)" in room_words(replace(totals, how_known="scaled"))
    assert "not known yet" in room_words(replace(totals, seconds=None, free_bytes=None))
    assert room_words(replace(totals, to_make=0)) == ""


def test_paths_in_the_home_folder_are_short_where_that_is_the_custom():
    home = str(Path.home())
    assert short_path(f"{home}/a/b", "linux") == "~/a/b" and short_path(home, "darwin") == "~"
    assert short_path(f"{home}x/b", "linux") == f"{home}x/b"
    assert short_path(f"{home}/a", "win32") == f"{home}/a"
