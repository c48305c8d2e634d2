"""The jobs that come with Mezzotint open on the page, and mean the same from there."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.batch.form import job_of, problems_of
from mezzotint_app.viewmodel.batch.opened import form_of

JOBS = sorted((Path(__file__).parents[4] / "assets" / "samples" / "jobs").glob("*.toml"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
PARTS = st.sampled_from(["settings", "prompts", "input", "matrix", "output", "request", "title", "version"])
NAMES = st.sampled_from(["folder", "list", "glob", "limit", "strength", "lora", "model", "existing", "masks", "steps"])


def test_there_are_jobs():
    assert len(JOBS) >= 5


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_paths_become_whole_and_nothing_else_changes(path):
    job = tomllib.loads(path.read_text("utf-8"))
    form, _ = form_of(job, str(path.parent))
    assert problems_of(form) == {}
    again = job_of(form, form.output)
    for part in ("input", "prompts"):
        for name, value in job.get(part, {}).items():
            now = again[part].get(name, {"choices": "all", "work": "change"}.get(name, False))
            if name in ("folder", "masks", "file", "table", "wildcards"):
                assert Path(now) == (path.parent / value).resolve()
            else:
                assert now == value or [now] == value or now == [value]
    for name, value in job.get("matrix", {}).items():
        assert again["matrix"][name] == value
    assert {k: v for k, v in again["settings"].items() if k not in ("strength", "lora", "embedding")} == {
        k: v for k, v in job.get("settings", {}).items() if k not in ("strength", "lora", "embedding")
    }


def test_what_has_no_place_is_told():
    form, told = form_of({"prompts": {"list": ["a\nb"]}, "settings": {"init": "a.png"}}, "/jobs")
    assert form.prompts == "a b" and form.settings == {"init": str(Path("/jobs/a.png"))}
    assert "Line breaks" in told and "one init image" in told


@given(st.dictionaries(PARTS, JSON | st.dictionaries(NAMES, JSON, max_size=4), max_size=6))
def test_whatever_a_file_says_something_can_be_shown(job):
    form, _ = form_of(job, "/jobs")
    job_of(form, "/out")
    problems_of(form)
