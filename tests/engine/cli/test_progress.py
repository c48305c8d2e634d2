"""The progress line says what is being done."""

import re

from mezzotint.cli.progress import ProgressBar
from mezzotint.protocol import Decoding, Encoding, Loading, Progress, Step


def test_every_phase_is_named(stream, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    screen = stream(tty=True)
    bar = ProgressBar(screen)
    for event, words in (
        (Loading(model="[red]a\x1b[2J", component="vae", bytes_done=1, bytes_total=2), "loading"),
        (Encoding(stage=0, stages=2), "encoding the prompt"),
        (
            Step(image=1, images=4, stage=0, stages=2, step=3, steps=20, sigma=1, preview=None),
            "denoising 2 of 4, stage 1 of 2",
        ),
        (Decoding(image=0, images=1), "decoding"),
        (Progress(what="a\x1b[2J.bin", done=2**20, total=2**21, unit="bytes"), "1.0 of 2.0 MB"),
        (Progress(what="here", done=3, total=7, unit="files"), "here, 3 of 7"),
        (Progress(what="here", done=3, total=None, unit="files"), "here, 3"),
    ):
        bar.show(event)
        bar.hide()
        shown = screen.getvalue()
        assert words in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
        assert "\x1b[2J" not in shown
    assert "[red]a" in shown
    assert shown.rstrip().endswith("\x1b[2K")  # nothing is left on the screen


def test_hiding_twice_is_harmless(stream):
    bar = ProgressBar(stream())
    bar.hide()
    bar.hide()
