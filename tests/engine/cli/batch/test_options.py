"""The words of `mezzotint batch`, and the job that they say."""

import pytest

from mezzotint.batch.job.job import InputFolder, JobOutput, Prompts
from mezzotint.batch.job.reading import parse_job
from mezzotint.batch.job.writing import toml_of
from mezzotint.cli.batch.options import job_of
from mezzotint.cli.parser import make_parser
from mezzotint.errors import UsageError


def job(*words):
    return job_of(make_parser().parse_args(["batch", "run", *words]))


def test_nothing_but_what_has_to_be_said():
    said = job("--prompt", "a", "-o", "out")
    assert (said.prompts, said.input, said.output) == (Prompts(list=("a",)), None, JobOutput(folder="out"))


def test_everything_about_words_folders_and_names():
    said = job(
        *("in", "-o", "out", "--recursive", "--glob", "*.png", "--glob", "a/*", "--limit", "9", "--masks", "m"),
        *("--sidecars", "--name", "[stem]", "--format", "jpg", "--flat", "--existing", "skip"),
        *("--prompt", "a", "--prompt", "b", "--prompts", "p.txt", "--table", "t.csv", "--template", "{x}"),
        *("--wildcards", "w", "--choices", "one", "--seeds", "3, 1,3"),
    )
    assert said.input == InputFolder(
        folder="in", recursive=True, glob=("*.png", "a/*"), limit=9, masks="m", sidecars=True
    )
    assert said.output == JobOutput(folder="out", name="[stem]", format="jpg", keep_tree=False, existing="skip")
    assert said.prompts == Prompts(
        list=("a", "b"), file="p.txt", table="t.csv", template="{x}", wildcards="w", choices="one"
    )
    assert said.matrix == (("seed", (3, 1)),)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["batch", "run", "in", "-o", "o", "--again"], ["batch", "run", "in", "-o", "o", "--regenerate"]),
        (["run", "job.toml", "--previews"], ["run", "job.toml", "--jsonl-previews"]),
        (["generate", "a", "--preview", "d"], ["generate", "a", "--preview-dir", "d"]),
    ],
)
def test_names_of_the_version_before_are_understood_and_not_shown(old, new, capsys):
    parse = make_parser().parse_args
    assert parse(old) == parse(new)
    with pytest.raises(SystemExit):
        parse([*(word for word in old[:2] if word != "job.toml"), "--help"])
    shown = capsys.readouterr().out.split()
    assert (
        new[-1 if old[-1].startswith("-") else -2] in shown and old[-1 if old[-1].startswith("-") else -2] not in shown
    )


def test_how_many_together():
    def said(*words):
        return make_parser().parse_args(["run", "job.toml", *words]).batch_size

    assert [said(), said("--batch-size", "auto"), said("--batch-size", "64")] == [None, "auto", 64]
    for words in ("0", "65", "many"):
        with pytest.raises((SystemExit, UsageError)):
            said("--batch-size", words)


@pytest.mark.parametrize(
    "words",
    [
        ["--prompt", "a house", "--steps", "4", "--size", "64x64", "--hires", "1.5", "--lora", "ink.safetensors:0.5"],
        ["in", "--prompt", "at night", "--strength", "0.5", "-m", "starter-dit", "--device", "cpu", "--seeds", "1,2"],
        ["in", "--regenerate", "--guidance", "3"],
    ],
)
def test_written_as_a_job_file_they_say_the_same(words):
    said = job(*words, "-o", "out")
    assert parse_job(toml_of(said).encode(), "job.toml") == said


def test_a_seed_and_a_count_are_those_of_each_row(capsys):
    def told(*words):
        with pytest.raises(SystemExit):
            make_parser().parse_args([*words, "--help"])
        return " ".join(capsys.readouterr().out.split())

    batch = told("batch", "run")
    assert "seed of the first image of each row; the next ones count up (default: each row has its own" in batch
    assert "number of images of each row" in batch
    assert "(default: random)" in told("generate")
