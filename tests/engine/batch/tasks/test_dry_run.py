"""What would happen, told row by row, with nothing made."""

import json

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.tasks.dry_run import DryRun, json_line, summary, table_head, table_line
from mezzotint.batch.tasks.estimate import Duration, Sizes, Times
from mezzotint.catalog.catalog import Catalog
from mezzotint.jobs.tasks import RunKey
from mezzotint.options import Options

KEY = RunKey(model="m", quantization="", width=0, height=0, device="")


class Clock(Times):
    """Every image takes two seconds, and the model ten."""

    def duration(self, request, size):
        return Duration(seconds=2.0, load=10.0, key=KEY, how="measured")


@pytest.fixture
def dry(tmp_path):
    catalog = Catalog.standard(())

    def made(job, *, times=None, **said):
        return DryRun(job, tmp_path, sizes=Sizes(catalog.find, catalog.default()), times=times or Clock(), **said)

    return made


def png(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64)).save(path)


def folder(tmp_path, **said):
    for name in ("a.png", "b.png", "B.webp", "c.png"):
        png(tmp_path / "in" / name)
    (tmp_path / "in" / "bad.png").write_text("bad")
    return JobFile(
        prompts=Prompts(list=("p",)),
        settings=Options(seed=3, size=(128, 64)),
        input=InputFolder(folder="in"),
        output=JobOutput(**said),
    )


@pytest.mark.parametrize("existing", ["rename", "overwrite", "skip"])
def test_every_fate_is_told(dry, tmp_path, existing):
    job = folder(tmp_path, existing=existing)
    png(tmp_path / "out" / "c.png")
    run = dry(job, is_done=lambda task: task.input == "a.png")
    rows = {row.input: row for row in run.rows()}
    assert {name: row.does for name, row in rows.items()} == {
        "a.png": "done",
        "b.png": "make",
        "B.webp": "make",
        "bad.png": "refuse",
        "c.png": existing,
    }
    twins = {rows[name].output: rows[name].why for name in ("b.png", "B.webp")}
    assert sorted(twins) == ["B-2.png", "b.png"]
    assert "another image" in twins["B-2.png"]
    assert rows["bad.png"].kind == "image_refused" and "bad.png" in rows["bad.png"].why
    assert (rows["b.png"].width, rows["b.png"].height, rows["b.png"].seed) == (128, 64, 3)
    made = 2 if existing == "skip" else 3
    totals = run.totals()
    assert (totals.tasks, totals.to_make, totals.skipped) == (5, made, {})
    assert (totals.seconds, totals.how_known) == (10 + 2.0 * made, "measured")
    assert totals.bytes == made * rows["b.png"].bytes
    assert totals.fits


def test_nothing_is_made_or_written(dry, tmp_path):
    job = folder(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    list(dry(job).rows())
    assert sorted(tmp_path.rglob("*")) == before


def test_what_the_engine_would_refuse_is_told(dry):
    job = JobFile(prompts=Prompts(list=("a",)), matrix=(("size", ("128x128", "130x128")), ("model", ("nothing",))))
    run = dry(JobFile(prompts=job.prompts, matrix=job.matrix[:1]))
    rows = list(run.rows())
    assert [row.does for row in rows] == ["make", "refuse"]
    assert "multiples" in rows[1].why
    assert run.totals().to_make == 1
    assert [row.does for row in dry(job).rows()] == ["refuse", "refuse"]


def test_rows_come_as_they_are_found(dry, tmp_path):
    job = folder(tmp_path)
    rows = dry(job).rows()
    assert next(rows).input == "a.png"
    (tmp_path / "in" / "c.png").unlink()
    assert [row.does for row in rows] == ["make", "make", "refuse", "refuse"]


def test_what_is_replaced_of_an_images_settings_is_told(dry, tmp_path):
    said = PngInfo()
    said.add_text("parameters", "a tree\nSteps: 9, Sampler: DPM fast, Seed: -1, Size: 0x64, Hires sampler: Heun")
    (tmp_path / "in").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "in" / "a.png", pnginfo=said)
    job = JobFile(input=InputFolder(folder="in", work="again"), prompts=Prompts(), output=JobOutput(folder="out"))
    (row,) = dry(job).rows()
    for named in ("seed -1", "sampler DPM fast", "size 0x64", "Hires sampler Heun"):
        assert named in row.why
    assert "Hires sampler Heun" in table_line(row)


def test_a_full_disk_is_told(dry, monkeypatch):
    from mezzotint.batch.tasks import dry_run

    monkeypatch.setattr(dry_run, "free_bytes", lambda _: 1000)
    run = dry(JobFile(prompts=Prompts(list=("a",))))
    list(run.rows())
    assert not run.totals().fits
    assert "not enough space" in summary(run.totals())


def test_unknown_times_make_no_sum(dry):
    run = dry(JobFile(prompts=Prompts(list=("a", "b"))), times=Times())
    list(run.rows())
    assert (run.totals().seconds, run.totals().how_known) == (None, "unknown")
    assert "time unknown" in summary(run.totals())


def test_as_a_table_and_as_json(dry, tmp_path):
    run = dry(JobFile(prompts=Prompts(list=("a\nb\u202e\t" + "x" * 500,)), settings=Options(seed=5)))
    (row,) = run.rows()
    line = table_line(row)
    assert line.isprintable()
    assert "128x128" in line
    assert table_head().startswith("action")
    assert json.loads(json_line(row))["row"]["seed"] == 5
    assert json.loads(json_line(run.totals()))["totals"]["to_make"] == 1
    assert summary(run.totals()).startswith("1 of 1 to generate")
