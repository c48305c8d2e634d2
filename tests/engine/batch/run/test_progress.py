"""How far a run is."""

import pytest

from mezzotint.batch.run.progress import Tally


def test_rate_and_time_left_come_from_what_was_made_lately():
    now = [0.0]
    tally = Tally(lambda: now[0])
    assert tally.progress().per_second is None
    for _ in range(10):
        now[0] += 2
        tally.settled("done")
    tally.settled("skipped")
    tally.already, tally.total = 9, 40
    progress = tally.progress()
    assert progress.looked_at == 20
    assert progress.per_second == pytest.approx(0.5)
    assert progress.seconds_left == pytest.approx(40)


def test_only_the_last_images_count_for_the_rate():
    now = [0.0]
    tally = Tally(lambda: now[0])
    for number in range(200):
        now[0] += 10 if number < 100 else 1
        tally.settled("done")
    assert tally.progress().per_second == pytest.approx(1)


def test_the_card_and_what_is_not_known():
    tally = Tally(lambda: 0.0)
    tally.took(None)
    assert tally.progress().vram_bytes is None
    for taken in (3, 9, 5):
        tally.took(taken)
    tally.settled("failed")
    progress = tally.progress()
    assert (progress.vram_bytes, progress.failed, progress.total, progress.seconds_left) == (9, 1, None, None)
