"""How the batch of an output folder stands."""

from batch_programs import run, task

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.manifest.status import lines_of, status_of
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.tasks.tasks import Shard, Skipped


def test_figures_of_a_folder(tmp_path):
    stream = [task(0, tmp_path), task(1, tmp_path), task(2, tmp_path, "refused"), task(3, tmp_path, "bug")]
    run(tmp_path, 4, stream=stream)
    (tmp_path / "1/00001.png").unlink()
    status = status_of(read_ledger(tmp_path))
    assert (status.done, status.failed, status.gone, status.is_ended, status.running) == (2, 2, 1, True, ())
    assert status.kinds == {"bug": 1, "image_refused": 1}
    lines = lines_of(status)
    assert "failed       2 (1 bug, 1 image_refused)" in lines
    assert "missing      1, which the next run generates again" in lines


def test_of_how_many_that_many_are_made(tmp_path):
    run(tmp_path, 3)
    assert "generated    3 of 3" in lines_of(status_of(read_ledger(tmp_path)))
    broken = Skipped(input="x.png", reason="it is cut off", kind="image_refused")
    text = Skipped(input="x.txt", reason="it is no image", kind="not_an_image")
    run(tmp_path, 5, stream=[*(task(number, tmp_path) for number in range(3)), broken, text])
    lines = lines_of(status_of(read_ledger(tmp_path)))
    assert lines[:3] == ["generated    3 of 4", "failed       1 (1 image_refused)", "skipped      1"]
    run(tmp_path, 5, stream=[task(0, tmp_path)])  # the job has become shorter: the others are of an older one
    assert "generated    3" in lines_of(status_of(read_ledger(tmp_path)))


def test_who_is_at_work_and_what_is_missing(tmp_path):
    run(tmp_path, 4, shard=Shard(index=1, count=3))
    with Owner.take(tmp_path, Shard(index=0, count=3)):
        status = status_of(read_ledger(tmp_path))
    assert len(status.running) == 1
    assert (status.shards, status.shards_missing) == (("1/3",), ("0/3", "2/3"))
    assert "no manifest  shards 0/3, 2/3" in lines_of(status)
