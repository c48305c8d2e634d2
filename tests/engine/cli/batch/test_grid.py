"""`mezzotint grid`: what is an axis, and what becomes of it."""

import argparse
import json

import pytest

from mezzotint.batch.job.reading import read_job
from mezzotint.cli.batch.grid import SEED, axis, job_of
from mezzotint.cli.parser import make_parser
from mezzotint.errors import UsageError


def job(*words):
    return job_of(make_parser().parse_args(["grid", "-o", "out", *words]))


def test_axes_become_the_matrix():
    made = job("a", "--x", "steps=10,20", "--y", "size=64x64,128x64", "--z", "lora=a.safetensors:0.5,b", "-m", "m")
    assert made.matrix == (("steps", (10, 20)), ("size", ("64x64", "128x64")), ("lora", ("a.safetensors:0.5", "b")))
    assert made.prompts.list == ("a",) and made.output.grid
    assert (made.settings.seed, made.settings.model) == (SEED, "m")
    assert job("a", "--x", "seed=1,2").settings.seed is None
    assert job("a", "--x", "steps=1,2", "--seed", "5").settings.seed == 5


def test_prompts_and_values_with_commas_are_divided_by_bars():
    made = job("--x", "prompt=a house, red|a boat", "--y", "region=0,0,1,1,prompt=x|0,0,1,1,prompt=y")
    assert made.prompts.list == ("a house, red", "a boat")
    assert made.matrix == (("region", ("0,0,1,1,prompt=x", "0,0,1,1,prompt=y")),)


@pytest.mark.parametrize("words", ["steps", "steps=", "steps=1,,2", "steps=1,1"])
def test_what_is_no_axis(words):
    with pytest.raises(argparse.ArgumentTypeError, match=r"steps.* (is not an axis|has a value twice)"):
        axis(words)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["a"], "a grid varies one to 3 different options: give --x"),
        (["a", "--x", "steps=1,2", "--y", "steps=3,4"], "different options"),
        (["--x", "steps=1,2"], "give the prompt, or an axis of prompts"),
        (["a", "--x", "prompt=b|c"], "give the prompt, or an axis of prompts"),
        (["a", "--x", "init=a.png,b.png"], "init cannot be an axis of a grid; expected one of prompt, style, model"),
        (["a", "--x", "hat=1,2"], "hat cannot be an axis"),
        (["a", "--x", "steps=1,many"], "steps: 'many' is invalid"),
        (["a", "--x", "seed=1,2", "--count", "2"], "remove count"),
        (["a", "--x", "sampler=euler,nonsense"], "the sampler nonsense is not known; known are euler, "),
        (["a", "--x", "steps=1,2", "--sampler", "nonsense"], "the sampler nonsense is not known"),
        (["a", "--x", "steps=1,2", "--schedule", "none"], "the schedule none is not known; known are default, "),
    ],
)
def test_mistakes_are_named(words, reason):
    with pytest.raises(UsageError, match=reason):
        job(*words)


def test_the_grid_is_written_when_all_is_done(command, tmp_path):
    words = ["grid", "a", "-o", str(tmp_path / "out"), "--x", "steps=1,2"]
    done = command(*words)
    assert done.code == 0
    assert done.out.splitlines()[-1] == str(tmp_path / "out" / "mezzotint-grid.png")
    assert "steps 2" in (tmp_path / "out" / "mezzotint-grid.html").read_text()
    told = [json.loads(line) for line in command(*words, "--jsonl").out.splitlines()]
    assert {"code": "grid", "message": str(tmp_path / "out" / "mezzotint-grid.png")} in [
        line.get("notice") for line in told
    ]


def test_a_grid_can_be_saved_as_a_job(command, tmp_path):
    done = command("grid", "a", "-o", "out", "--x", "steps=1,2", "--save-job", str(tmp_path / "grid.toml"))
    assert done.code == 0
    assert read_job(tmp_path / "grid.toml").output.grid
