"""Long work in one line."""

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QProgressBar

from mezzotint.protocol import Progress
from mezzotint_app.viewmodel.models.models import LibraryJob
from mezzotint_app.widgets.job_line import JobLine


@pytest.fixture
def line(qtbot):
    QLocale.setDefault(QLocale.c())
    made = JobLine()
    qtbot.addWidget(made)
    made.show()
    return made


def words(line):
    return " ".join(label.text() for label in line.findChildren(type(line._state)))


def test_progress_is_shown_in_bytes_with_the_time_left(line):
    progress = Progress(what="unet", done=1 << 30, total=4 << 30, unit="bytes", seconds_left=120)
    line.show_job(LibraryJob(call=1, kind="get", subject="owner/name", progress=progress))
    for part in ("Downloading owner/name", "unet", "1.0 GB of 4.0 GB", "2 min left"):
        assert part in words(line)
    bar = line.findChild(QProgressBar)
    assert bar.value() * 4 == bar.maximum()


@pytest.mark.parametrize("progress", [None, Progress(what="x", done=3, total=None, unit="files")])
def test_without_a_total_the_bar_only_moves(line, progress):
    line.show_job(LibraryJob(call=1, kind="verify", subject="a", progress=progress))
    assert line.findChild(QProgressBar).maximum() == 0


@pytest.mark.parametrize(
    ("state", "shown", "again"),
    [
        ("done", "Done. all is well", False),
        ("failed", "Failed. all is well", True),
        ("cancelled", "Stopped.", True),
    ],
)
def test_an_end_is_told_and_can_be_tried_again_or_taken_away(line, state, shown, again):
    line.show_job(LibraryJob(call=1, kind="quantize", subject="a <b>", state=state, outcome="all is well"))
    assert shown in words(line)
    assert (line.cancel.isVisible(), line.retry.isVisible(), line.dismiss.isVisible()) == (False, again, True)
    assert "a <b>" in line.dismiss.accessibleName()


def test_the_button_stops_it(qtbot, line):
    line.show_job(LibraryJob(call=1, kind="get", subject="a"))
    assert "a" in line.cancel.accessibleName()
    assert not line.retry.isVisible() and not line.dismiss.isVisible()
    with qtbot.waitSignal(line.cancel_asked):
        qtbot.mouseClick(line.cancel, Qt.MouseButton.LeftButton)
    line.show_job(LibraryJob(call=1, kind="get", subject="a", state="failed"))
    for button, signal in ((line.retry, line.retry_asked), (line.dismiss, line.dismiss_asked)):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
