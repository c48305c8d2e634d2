"""The example jobs: each can be read, would be made whole, and says what the words beside it say."""

from pathlib import Path

import pytest

from mezzotint.batch.job.reading import read_job
from mezzotint.batch.job.writing import toml_of
from mezzotint.batch.tasks.dry_run import DryRun
from mezzotint.batch.tasks.estimate import Sizes, Times
from mezzotint.batch.tasks.tasks import output_folder
from mezzotint.catalog.catalog import Catalog
from mezzotint.options import SETTINGS

JOBS = Path(__file__).parents[4] / "assets" / "samples" / "jobs"
IMAGES = {"prompts": 18, "table": 4, "night": 3, "enlarge": 2, "inpaint": 4}


def test_these_are_the_jobs():
    assert {path.stem for path in JOBS.glob("*.toml")} == set(IMAGES)


@pytest.mark.parametrize("name", IMAGES)
def test_every_job_makes_its_images(name):
    path, catalog = JOBS / f"{name}.toml", Catalog.standard(())
    job = read_job(path)
    run = DryRun(job, JOBS, sizes=Sizes(catalog.find, catalog.default()), times=Times())
    rows = list(run.rows())
    assert [row for row in rows if row.does in ("skip", "refuse")] == []
    assert len(rows) == len({row.output for row in rows}) == IMAGES[name]
    assert output_folder(job, JOBS).resolve() == JOBS.parents[2] / "out" / "jobs" / name
    assert f"mezzotint run assets/samples/jobs/{path.name}" in path.read_text("utf-8")
    assert toml_of(job)


def test_what_is_told_of_jobs_is_there():
    text = (JOBS / "README.md").read_text("utf-8")
    for name in IMAGES:
        assert f"[{name}.toml]({name}.toml)" in text
    settings = text.partition("**[settings]**")[2].partition("**[prompts]**")[0]
    assert {word.strip("`") for word in ("`model`", "`lora`", "`quant`", "`hires`")} <= set(SETTINGS)
    assert all(f"`{word}`" in settings for word in ("model", "size", "steps", "seed", "count", "refiner", "memory"))
