"""Jobs written: what is read again is what was written, and what is made is what was asked for."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.job.reading import parse_job, read_job
from mezzotint.batch.job.settings import request_of
from mezzotint.batch.job.writing import job_of, json_of, toml_of, write_job
from mezzotint.batch.tasks.tasks import BatchTask, tasks_of
from mezzotint.errors import StorageError, UsageError
from mezzotint.options import Options, options_of
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)
from mezzotint.values.basic import is_text

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1, max_size=12)
PATHS = WORDS.filter(lambda one: "\n" not in one and "\t" not in one)


def options():
    return st.builds(
        Options,
        model=st.none() | WORDS,
        size=st.none() | st.tuples(st.integers(1, 9999), st.integers(1, 9999)),
        steps=st.none() | st.integers(1, 1000),
        guidance=st.none() | st.floats(0, 100),
        seed=st.none() | st.integers(0, 2**63 - 1),
        zero_terminal_snr=st.none() | st.booleans(),
        embedding=st.lists(PATHS, max_size=2).map(tuple),
        lora=st.lists(st.builds(LoraRef, path=PATHS, weight=st.floats(-9, 9)), max_size=2).map(tuple),
        compile=st.booleans(),
        fast=st.booleans(),
        cuda_graphs=st.sampled_from([None, "auto", "on", "off"]),
    )


def requests():
    sampling = st.builds(Sampling, steps=st.none() | st.integers(1, 99), sampler=st.none() | WORDS)
    stage = st.builds(
        Stage,
        model=st.none() | st.builds(ModelRef, id=WORDS, sha256=st.none() | st.just("0" * 64)),
        width=st.none() | st.integers(1, 999),
        until=st.none() | st.floats(0.1, 0.9),
        sampling=sampling,
        prompt=st.none() | WORDS,
        loras=st.none() | st.just(()),
    )
    cascade = st.builds(
        Cascade,
        stages=st.lists(stage, min_size=1, max_size=3).map(tuple),
        transitions=st.lists(st.builds(Transition, scale=st.floats(1, 4)), max_size=2).map(tuple),
    )
    return st.builds(
        GenerateRequest,
        prompt=WORDS,
        cascade=cascade,
        images=st.just(()) | st.just((ImageInput(path="/a.png"), ImageInput(path="m.png", role="mask"))),
        inpaint=st.none() | st.builds(Inpaint, left=st.integers(0, 9)),
        seed=st.none() | st.integers(0, 99),
        count=st.integers(1, 3),
        vram_limit_bytes=st.none() | st.integers(2**20, 2**40),
        output=st.builds(Output, path=st.none() | WORDS),
    )


@given(
    st.builds(
        JobFile,
        title=WORDS,
        settings=options(),
        prompts=st.builds(Prompts, list=st.lists(WORDS, min_size=1, max_size=4).map(tuple), file=st.none() | PATHS),
        input=st.none() | st.builds(InputFolder, folder=PATHS, limit=st.none() | st.integers(1, 9)),
        matrix=st.just(()) | st.just((("steps", (1, 2)), ("size", ("8x8",)), ("strict", (True, False)))),
        output=st.builds(JobOutput, folder=PATHS, existing=st.sampled_from(["skip", "rename"])),
    )
)
def test_what_is_written_is_read_again_in_both_forms(job):
    assert parse_job(toml_of(job).encode(), "j.toml") == job
    assert parse_job(json_of(job).encode(), "j.json") == job


@given(st.lists(requests(), min_size=1, max_size=4))
def test_any_requests_make_a_job_that_makes_them(asked):
    job = job_of(asked)
    for text, name in ((toml_of(job), "j.toml"), (json_of(job), "j.json")):
        assert parse_job(text.encode(), name) == job
    if job.requests:
        assert job.requests == tuple(dataclasses.replace(one, output=Output()) for one in asked)


@given(st.lists(WORDS.filter(is_text), min_size=1, max_size=3, unique=True), st.lists(st.integers(0, 99), unique=True))
def test_prompts_times_seeds_are_said_in_words(tmp_path_factory, prompts, seeds):
    asked = [GenerateRequest(prompt=prompt, seed=seed) for prompt in prompts for seed in seeds or [5]]
    job = job_of(asked)
    assert job.requests == ()
    made = [one for one in tasks_of(job, base=tmp_path_factory.getbasetemp()) if isinstance(one, BatchTask)]
    assert [(task.request.prompt, task.request.seed) for task in made] == [(one.prompt, one.seed) for one in asked]


def test_braces_are_what_they_look_like_unless_said_otherwise():
    asked = [GenerateRequest(prompt="a {red|blue} \\{house", seed=1)]
    assert [task.request.prompt for task in tasks_of(job_of(asked), base=Path("/x"))] == ["a {red|blue} \\{house"]
    assert job_of(asked, has_choices=True).prompts.list == ("a {red|blue} \\{house",)


@pytest.mark.parametrize(
    "said",
    [
        Options(prompt="a", model="m", size=(64, 96), hires=1.5, refiner="r", refiner_at=0.7, hires_strength=0.3),
        Options(prompt="a", refiner="r"),
        Options(prompt="a", hires=2.0, hires_space="pixel", hires_upscaler="lanczos", steps=7, sampler="euler"),
        Options(prompt="a", init="i.png", mask="m.png", inpaint_area="masked", inpaint_padding=4, strength=0.4),
        Options(prompt="a", init="i.png", outpaint=(0, 4, 0, 0), inpaint_fill="noise"),
        Options(
            prompt="a", negative="b", quant="int8", memory="lowest", vram_limit=2**30, count=3, seed=5, strict=True
        ),
    ],
)
def test_what_options_stated_is_found_in_the_request(said):
    found = options_of(request_of(said))
    assert found is not None
    assert request_of(found) == request_of(said)


@pytest.mark.parametrize(
    "request_",
    [
        GenerateRequest(prompt="a", cascade=Cascade(stages=(Stage(until=0.5), Stage()), transitions=(Transition(),))),
        GenerateRequest(prompt="a", loras=(LoraRef(path="x", sha256="0"),)),
        GenerateRequest(prompt="a", cascade=Cascade(stages=(Stage(width=64),))),
        GenerateRequest(prompt="a", cascade=Cascade(stages=(Stage(sampling=Sampling(clip_skip=99)),))),
        GenerateRequest(prompt="\x1b[31m"),
    ],
)
def test_where_words_do_not_reach_the_request_itself_is_written(request_):
    assert job_of([request_]).requests == (request_,)


def test_files_are_whole_and_replace_nothing(tmp_path):
    job = job_of([GenerateRequest(prompt="a", seed=3)], output=JobOutput(folder="o", batch_size=2), title="T")
    for name in ("job.toml", "job.json"):
        write_job(job, tmp_path / name)
        assert read_job(tmp_path / name) == job
        with pytest.raises(StorageError, match="already exists"):
            write_job(job, tmp_path / name)
        write_job(job, tmp_path / name, overwrite=True)
    with pytest.raises(UsageError, match="end in"):
        write_job(job, tmp_path / "job.yaml")
    with pytest.raises(UsageError, match="surrogate"):
        write_job(job_of([GenerateRequest(prompt="\ud800")]), tmp_path / "x.toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.json", "job.toml"]


def test_many_prompts_stand_one_to_a_line():
    text = toml_of(JobFile(prompts=Prompts(list=tuple(f"prompt number {number}" for number in range(9)))))
    assert text.count("\n    ") == 9


def test_a_job_too_long_for_toml_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("mezzotint.batch.job.writing.MOST_TOML_BYTES", 100)
    job = JobFile(prompts=Prompts(list=("a very long prompt",) * 10))
    with pytest.raises(UsageError, match=r"read up to 100: save it as \.json"):
        write_job(job, tmp_path / "job.toml")
    write_job(job, tmp_path / "job.json")
    assert [path.name for path in tmp_path.iterdir()] == ["job.json"]
