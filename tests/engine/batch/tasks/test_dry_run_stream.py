"""Rows of a dry run on their way to a window: in groups, soon, until nobody wants them any more."""

import itertools
import json
import sys

import pytest
from PIL import Image

from mezzotint.batch.job.reading import job_of_data
from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.manifest.record import Record
from mezzotint.batch.tasks.dry_run_stream import AT_ONCE, open_dry_run, stream_dry_run
from mezzotint.batch.tasks.tasks import tasks_of
from mezzotint.batch_protocol import BatchLook
from mezzotint.catalog import Catalog
from mezzotint.codec import to_json
from mezzotint.errors import Cancelled, StorageError, UnknownModel, UsageError
from mezzotint.jobs.store import JobStore

MANY = list(range(1, 200))


@pytest.fixture
def looking(tmp_path):
    """Looks at a job; the totals, and the groups of rows that were told."""

    def call(job, *, base=None, limit=None, cancelled=lambda: False):
        told = []
        asked = BatchLook(job={"version": 1, **job}, base=str(base or tmp_path), limit=limit)
        try:
            return stream_dry_run(asked, Catalog.standard(()), told.append, cancelled), [group.rows for group in told]
        except Cancelled:
            return None, [group.rows for group in told]

    return call


def prompts(count):
    words = "|".join(map(str, range(count)))
    return {"prompts": {"list": [f"a house {{{words}}}"]}, "output": {"folder": "out"}}


def test_all_rows_are_told_in_groups(looking, tmp_path):
    totals, groups = looking(prompts(450))
    rows = [row for group in groups for row in group]
    assert all(0 < len(group) <= AT_ONCE for group in groups)
    assert (len(rows), totals.tasks, totals.to_make, totals.is_whole) == (450, 450, 450, True)
    tasks = tasks_of(job_of_data({"version": 1, **prompts(450)}), base=tmp_path)
    assert [(row.output, row.seed, row.prompt) for row in rows] == [
        (task.output, task.request.seed, task.request.prompt) for task in tasks
    ]
    assert rows[0].width and rows[0].bytes
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("limit", "whole"), [(0, False), (3, False), (9, False), (10, True), (11, True), (None, True)])
def test_a_look_ends_at_its_limit_and_says_so(looking, limit, whole):
    totals, groups = looking(prompts(10), limit=limit)
    assert (totals.tasks, totals.is_whole) == (min(10, 10 if limit is None else limit), whole)
    assert sum(map(len, groups)) == totals.tasks


@pytest.mark.parametrize("rows", [1, 7, 200, 201])
def test_it_is_cancelled_after_any_row(looking, rows):
    asked = itertools.count(1)
    totals, groups = looking(prompts(300), cancelled=lambda: next(asked) >= rows)
    assert totals is None
    assert sum(map(len, groups)) <= rows


def test_it_is_cancelled_among_files_that_are_no_rows(looking, tmp_path):
    (tmp_path / "photos" / "below").mkdir(parents=True)
    for number in range(50):
        (tmp_path / "photos" / "below" / f"{number}.doc").touch()
    looked = itertools.count(1)
    job = {"prompts": {"list": ["a"]}, "input": {"folder": "photos", "recursive": True}}
    assert looking(job, cancelled=lambda: next(looked) >= 20) == (None, [])
    assert next(looked) == 21


@pytest.mark.slow
def test_long_rows_go_in_small_groups(looking, tmp_path):
    (tmp_path / "words.txt").write_text("".join(f"{number} {'word ' * 9000}\n" for number in range(150)))
    name = "/".join(["[prompt]" * 5] * 20)
    job = {"prompts": {"file": "words.txt"}, "output": {"folder": "out", "name": name}}
    totals, groups = looking(job)
    assert totals.tasks == 150 and len(groups) > 1
    assert max(sum(len(row.output) for row in group) for group in groups) < 300_000


def test_what_was_made_before_is_told(looking, tmp_path):
    job = prompts(3)
    first = next(tasks_of(job_of_data({"version": 1, **job}), base=tmp_path))
    with Manifest.open(tmp_path / "out") as manifest:
        manifest.add(Record(key=first.key, status="done", output=first.output))
    Image.new("RGB", (8, 8)).save(tmp_path / "out" / first.output)
    totals, ((row, *_), *_) = looking(job)
    assert (row.does, totals.does) == ("done", {"done": 1, "make": 2})


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_files_that_are_none_are_told_with_their_reason(looking, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    Image.new("RGB", (70, 50)).save(photos / "a.png")
    (photos / "broken.png").write_text("no image")
    (photos / "loop.png").symlink_to("loop.png")
    job = {"prompts": {"list": ["snow"]}, "settings": {"strength": 0.5}, "input": {"folder": "photos"}}
    totals, groups = looking(job)
    rows = [row for group in groups for row in group]
    assert {row.input: row.does for row in rows} == {"a.png": "make", "broken.png": "refuse", "loop.png": "skip"}
    assert (totals.skipped, totals.tasks) == ({"link": 1}, 2)
    (made,) = (row for row in rows if row.does == "make")
    assert made.width % 8 == made.height % 8 == 0


@pytest.mark.parametrize(
    ("job", "error", "words"),
    [
        ({}, UsageError, "nothing to generate"),
        ({"prompts": {"list": ["a"]}, "settings": {"colour": 1}}, UsageError, r"settings\.colour: unknown name"),
        ({"prompts": {"list": "a" * 70_000}}, UsageError, r"prompts\.list"),
        ({"prompts": {"list": [{}]}}, UsageError, r"prompts\.list: a table is not a text"),
        ({"prompts": {"file": "absent.txt"}}, StorageError, "absent.txt"),
        ({"input": {"folder": "absent"}, "prompts": {"list": ["a"]}}, StorageError, "does not exist"),
        ({"prompts": {"list": ["a"]}, "settings": {"model": "nobody"}}, UnknownModel, "nobody"),
        ({"prompts": {"list": ["a"]}, "matrix": {"steps": MANY, "seed": MANY}}, UsageError, "too many"),
        ({"request": [{"prompt": "a", "colour": 7}]}, UsageError, "unknown field"),
        ({"version": 7, "prompts": {"list": ["a"]}}, UsageError, "update Mezzotint"),
    ],
)  # fmt: skip
def test_jobs_that_cannot_be_are_named(looking, job, error, words):
    with pytest.raises(error, match=words):
        looking(job)


def test_the_base_is_a_whole_path_and_the_limit_a_number(looking):
    with pytest.raises(UsageError, match="not an absolute path"):
        looking(prompts(1), base="here")
    with pytest.raises(UsageError, match="limit -1 is invalid"):
        looking(prompts(1), limit=-1)


def test_without_a_queue_nothing_is_known_of_times(monkeypatch, looking):
    def broken(**_):
        raise StorageError("it is damaged")

    monkeypatch.setattr(JobStore, "open", broken)
    totals, _ = looking(prompts(2))
    assert (totals.to_make, totals.seconds, totals.how_known) == (2, None, "unknown")


def test_the_command_line_shows_the_same_rows(looking, tmp_path, monkeypatch):
    job = job_of_data({"version": 1, **prompts(5)})
    with open_dry_run(job, tmp_path, Catalog.standard(())) as run:
        rows = list(run.rows())
    _, groups = looking(prompts(5))
    assert json.loads(to_json(rows)) == json.loads(to_json([row for group in groups for row in group]))
