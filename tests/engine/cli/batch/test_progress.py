"""The line that says how far a batch is."""

from dataclasses import replace

from mezzotint.batch.run.progress import Progress
from mezzotint.cli.batch.progress import BatchBar, detail_of

NOTHING = Progress(
    done=0,
    failed=0,
    set_aside=0,
    skipped=0,
    already=0,
    left_failed=0,
    total=None,
    per_second=None,
    seconds_left=None,
    vram_bytes=None,
)


def test_what_is_not_known_is_not_said():
    assert detail_of(NOTHING) == "0"
    assert detail_of(replace(NOTHING, done=3, skipped=1)) == "4"


def test_everything():
    one = replace(
        NOTHING, done=10, failed=1, set_aside=1, total=80, per_second=1.44, seconds_left=50, vram_bytes=3 << 30
    )
    assert detail_of(one) == "12 of 80, 1.4/s, 50 s left, 2 failed, 3.0 GB of VRAM"
    assert "7.5/min" in detail_of(replace(one, per_second=0.125))


def test_names_of_files_stand_outside_the_bar(stream):
    terminal = stream(tty=True)
    bar = BatchBar(terminal)
    bar.show(replace(NOTHING, done=1, total=2))
    bar.hide()
    terminal.write("a line between\n")
    bar.show(replace(NOTHING, done=2, total=2))
    bar.hide()
    assert "a line between\n" in terminal.getvalue()
    assert "2 of 2" in terminal.getvalue()
