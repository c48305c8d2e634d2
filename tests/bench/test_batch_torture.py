"""Batches that are killed over and over, small enough for every day; bench/ has the large ones."""

import random
import shutil
import sys

import pytest
from batch_programs import run

TASKS = 200
OFTEN = (20, 60)  # images between kills

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("devices", "together"),
    [(0, 4), pytest.param(2, 1, marks=pytest.mark.slow), pytest.param(2, 4, marks=pytest.mark.slow)],
)
def test_killed_over_and_over_nothing_is_missing_twice_or_broken(script, tmp_path, devices, together):
    figures = script.Torture(tmp_path, TASKS, devices, random.Random(7), images=OFTEN, together=together).run()
    assert figures.kills_of_runs + figures.kills_of_workers > 0
    assert figures.is_whole, str(figures)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("prlimit"), reason="prlimit (util-linux) limits what a run may write")
def test_killed_and_short_of_room(script, tmp_path):
    rng = random.Random(7)
    torture = script.Torture(
        tmp_path, TASKS, 0, rng, script.limited(tmp_path, rng, (14_000, 14_001)), images=(10, 60), together=3
    )
    figures = torture.run()
    assert figures.full > 0
    assert figures.is_whole, str(figures)


def test_the_look_at_the_end_finds_what_is_wrong(script, tmp_path):
    run(tmp_path, 12)
    (tmp_path / "1/00001.png").unlink()
    shutil.copy(tmp_path / "2/00002.png", tmp_path / "2/00002-1.png")
    shutil.copy(tmp_path / "3/00003.png", tmp_path / "4/00004.png")
    manifest = tmp_path / "mezzotint-manifest.jsonl"
    lines = manifest.read_bytes().splitlines(keepends=True)
    told = next(line for line in lines if b"00005.png" in line)
    manifest.write_bytes(b"".join(line for line in lines if line != told))
    figures = script.Figures(tasks=12, devices=0)
    script.check(tmp_path, figures)
    assert (figures.missing, figures.twice) == (["1/00001.png"], ["2/00002-1.png"])
    assert (figures.broken, figures.untold) == (["4/00004.png"], ["5/00005.png"])
    assert not figures.is_whole
