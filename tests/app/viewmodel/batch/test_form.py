"""What the page says is a job that the strict reader of job files takes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.job.reading import parse_job
from mezzotint.codec import from_json, to_json
from mezzotint_app.viewmodel.batch.form import BatchForm, MatrixRow, job_of, problems_of, run_arguments, values_of
from mezzotint_app.viewmodel.batch.opened import form_of

HOME = str(Path.home())
NAMES = st.text(st.sampled_from("abcXYZ 09-_.éß日"), min_size=1, max_size=12).filter(
    lambda name: name.strip(" .") == name
)
PATHS = NAMES.map(lambda name: str(Path(HOME, name)))
MAYBE = st.just("") | PATHS
WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=40)
MATRIX = st.sampled_from(
    [
        (),
        (MatrixRow(setting="steps", values="8, 12"),),
        (MatrixRow(setting="seed", values="1,2,3"), MatrixRow(setting="guidance", values="4.5, 5")),
        (MatrixRow(setting="sampler", values="euler"), MatrixRow(setting="", values="7"), MatrixRow(setting="size")),
    ]
)
SETTINGS = st.sampled_from(
    [{}, {"model": "starter-dit", "steps": 4, "guidance": 5.0}, {"lora": ["/a.safetensors:0.5"]}]
)
FORMS = st.builds(
    BatchForm,
    source=st.sampled_from(["folder", "words"]),
    folder=PATHS,
    work=st.sampled_from(["change", "edit", "again"]),
    recursive=st.booleans(),
    glob=st.sampled_from(["", "*.png", "*.png; holiday*"]),
    limit=st.integers(0, 10**9),
    masks=MAYBE,
    sidecars=st.booleans(),
    prompts=st.lists(WORDS, max_size=4).map(lambda lines: "\n".join(["a house", *lines])),
    prompts_file=MAYBE,
    table=PATHS,
    template=st.sampled_from(["", "a {colour} {thing}"]),
    wildcards=MAYBE,
    choices=st.sampled_from(["all", "one"]),
    strength=st.floats(0, 1),
    settings=SETTINGS,
    matrix=MATRIX,
    title=st.sampled_from(["", "Houses"]),
    output=PATHS,
    name=st.sampled_from(["", "[stem]-[seed]"]),
    format=st.sampled_from(["png", "jpg", "webp"]),
    keep_tree=st.booleans(),
    existing=st.sampled_from(["rename", "skip", "overwrite"]),
)


def read(job):
    return parse_job(json.dumps(job).encode(), "job.json")


@given(FORMS)
def test_every_form_without_problems_is_a_job(form):
    assert problems_of(form) == {}
    job = read(job_of(form, form.output))
    assert job.output.folder == form.output
    assert (job.input is None) == (form.source == "words")
    if job.input is not None:
        assert (job.input.folder, job.input.work, job.input.limit or 0) == (form.folder, form.work, form.limit)
    assert job.settings.steps == form.settings.get("steps")
    assert (
        ("strength" in job_of(form, "o")["settings"]) is True
        if form.source == "folder" and form.work == "change"
        else True
    )


@given(FORMS)
def test_a_form_that_is_kept_as_a_job_comes_back_as_the_same_job(form):
    job = job_of(form, form.output)
    opened, told = form_of(job, "/elsewhere")
    assert told == ""
    assert problems_of(opened) == {}
    assert read(job_of(opened, opened.output)) == read(job)


@given(FORMS)
def test_a_form_is_kept_whole(form):
    assert from_json(BatchForm, to_json(form)) == form


def test_what_is_typed_begins_in_the_home_folder():
    form = BatchForm(folder="photos", masks="~/masks", prompts="x")
    given_folder = job_of(form, "/out")["input"]
    home = Path.home()
    assert given_folder == {"folder": str(home / "photos"), "masks": str(home / "masks")}


def test_whole_requests_bring_their_own_words_and_images():
    form = BatchForm(source="requests", requests=({"prompt": "a house", "seed": 7},), prompts="ignored", folder="/p")
    job = read(job_of(form, "/out"))
    assert [one.prompt for one in job.requests] == ["a house"] and job.input is None


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (BatchForm(), "folder"),
        (BatchForm(folder="  "), "folder"),
        (BatchForm(source="words", prompts=" \n "), "prompts"),
        (BatchForm(folder="/p"), "prompts"),
        (BatchForm(source="words", prompts="x", template="a {b}"), "template"),
        (BatchForm(source="words", prompts="x", matrix=(MatrixRow(setting="steps", values="1"),) * 2), "matrix"),
        (
            BatchForm(
                source="words", prompts="x", settings={"seed": 7}, matrix=(MatrixRow(setting="seed", values="1"),)
            ),
            "matrix",
        ),
    ],
)
def test_what_stands_in_the_way_is_told_at_its_field(form, field):
    assert list(problems_of(form)) == [field]


@pytest.mark.parametrize(
    "form",
    [
        BatchForm(folder="/p", work="again"),
        BatchForm(folder="/p", sidecars=True),
        BatchForm(folder="/p", table="/t.csv"),
        BatchForm(source="words", prompts_file="/w.txt"),
        BatchForm(source="requests", requests=({"prompt": "x"},)),
    ],
)
def test_words_may_come_from_elsewhere(form):
    assert problems_of(form) == {}


@given(st.text(max_size=60))
def test_values_are_what_a_job_can_hold(text):
    values = values_of(MatrixRow(setting="steps", values=text))
    json.dumps(values, allow_nan=False)
    assert len(values) <= 1000


def test_values_keep_their_kind():
    assert values_of(MatrixRow(setting="x", values="1, 2.5, true, 512x512,, nan")) == [1, 2.5, True, "512x512", "nan"]


def test_how_it_is_run_is_no_part_of_the_job():
    form = BatchForm(folder="/p", prompts="x", watch=True, all_cards=True)
    assert job_of(form, "/o") == job_of(BatchForm(folder="/p", prompts="x"), "/o")
    assert run_arguments(form, 2) == ("--watch", "--devices", "0,1") and run_arguments(form, 1) == ("--watch",)
    assert run_arguments(BatchForm(source="words", watch=True), 4) == ()
