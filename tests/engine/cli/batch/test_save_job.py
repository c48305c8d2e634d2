"""Commands saved as jobs: run from there, they make the same."""

import json
import shutil

import pytest
from batch_programs import StandIn
from PIL import Image

from mezzotint.batch.job.reading import read_job
from mezzotint.batch.job.writing import data_of
from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.methods import batch_methods
from mezzotint.batch_protocol import BatchWrite
from mezzotint.cli.batch.options import job_of
from mezzotint.cli.parser import make_parser


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with what the words below name."""
    for name in ("photos/below", "masks/below", "saved"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("photos/a.png", "photos/below/b.png", "masks/a.png", "masks/below/b.png", "init.png"):
        Image.linear_gradient("L").convert("RGB").resize((64, 64)).save(tmp_path / name)
    (tmp_path / "photos" / "a.txt").write_text("a boat at dawn")
    (tmp_path / "words.txt").write_text("a house\na boat\n")
    (tmp_path / "scenes.csv").write_text("colour,steps\nred,4\nblue,5\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = [
    ["--prompt", "a {red|blue} house", "--seeds", "1,2", "--size", "64x64", "--steps", "4"],
    ["--prompts", "words.txt", "--count", "2", "--negative", "rain", "--name", "[prompt]-[seed]"],
    ["--table", "scenes.csv", "--template", "a {colour} barn", "--format", "webp"],
    ["photos", "--prompt", "snow", "--strength", "0.5", "--recursive", "--glob", "*.png", "--flat"],
    ["photos", "--prompt", "a door", "--masks", "masks", "--recursive", "--inpaint-feather", "4"],
    ["photos", "--prompt", "a", "--sidecars", "--strength", "0.4", "--existing", "overwrite", "--hires", "2"],
    ["--prompt", "a", "--vram-limit", "6GB", "--memory", "lowest", "--batch-size", "1"],
]


def made(folder):
    """What a manifest says, but for what differs from run to run."""
    records = read_ledger(folder).records().values()
    return {(one.key, one.output, one.input, one.seed, one.status, one.pixels_sha256) for one in records}


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("name", ["job.toml", "saved/job.json"])
def test_a_saved_batch_makes_what_the_command_makes(command, here, words, name):
    assert command("batch", *words, "-o", "out", engine=StandIn()).code == 0
    shutil.move("out", "first")
    saved = command("batch", *words, "-o", "out", "--save-job", name, engine=StandIn())
    assert (saved.code, saved.out, saved.engine.requests) == (0, f"{name}\n", [])
    assert not (here / "out").exists()
    done = command("run", name, engine=StandIn())
    assert done.code == 0, done.err
    assert made(here / "out") == made(here / "first")
    assert command("batch", *words, "-o", "out", engine=StandIn()).engine.requests == []  # all of it is there


@pytest.mark.parametrize("words", WORDS)
def test_a_job_that_the_window_writes_makes_what_the_command_makes(command, here, words):
    assert command("batch", *words, "-o", "out", engine=StandIn()).code == 0
    shutil.move("out", "first")
    job = data_of(job_of(make_parser().parse_args(["batch", "run", *words, "-o", "out"])))
    asked = BatchWrite(job=job, path=str(here / "saved" / "job.toml"), base=str(here))
    batch_methods(lambda: None)["batch_write"].run(asked, lambda event: None, lambda: False)
    assert command("run", "saved/job.toml", engine=StandIn()).code == 0
    assert made(here / "out") == made(here / "first")


GENERATE = [
    (["a {house|boat}", "--seed", "7", "-o", "out/[seed].png"], ["7.png"]),
    (["a hut", "--seed", "7", "--count", "2", "-o", "out/[prompt]/[seed].webp"], ["a-hut/7.webp", "a-hut/8.webp"]),
    (["a house", "--seed", "7", "--init", "init.png", "--strength", "0.5", "-o", "out/x.jpg"], ["x.jpg"]),
    (["a house", "--seed", "7", "--hires", "1.5", "-o", "out/"], ["0001-a-house.png"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "outputs"), GENERATE)
def test_a_saved_image_is_what_generate_asks_for(command, here, words, outputs):
    asked = command("generate", *words).request
    saved = command("generate", *words, "--save-job", "saved/job.toml")
    assert (saved.code, saved.engine.requests) == (0, [])
    done = command("run", "saved/job.toml", engine=StandIn())
    assert done.code == 0, done.err
    first = done.engine.requests[0]
    assert (first.prompt, first.seed, first.cascade, first.strength) == (
        asked.prompt,
        asked.seed,
        asked.cascade,
        asked.strength,
    )
    assert [one.role for one in first.images] == [one.role for one in asked.images]
    assert [record.output for record in read_ledger(here / "out").records().values()] == outputs


def test_what_is_there_is_not_replaced(command, here):
    (here / "job.toml").write_text("mine")
    done = command("batch", "--prompt", "a", "-o", "out", "--save-job", "job.toml")
    assert done.code == 7 and "already exists" in done.err
    assert (here / "job.toml").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["batch", "--prompt", "a", "-o", "out", "--save-job", "job.txt"], "end in .toml or .json"),
        (["batch", "-o", "out", "--save-job", "job.toml"], "nothing to generate"),
        (["batch", "--prompt", "a", "-o", "out", "--name", "[date]", "--save-job", "job.toml"], "[date]"),
        (["generate", "a", "-o", "[date].png", "--save-job", "job.toml"], "date"),
        (["generate", "a", "--preview-dir", "steps", "--save-job", "job.toml"], "--preview-dir"),
    ],
)
def test_what_cannot_be_saved_is_told(command, here, words, complaint):
    done = command(*words)
    assert done.code == 2 and complaint in done.err
    assert not (here / "job.toml").exists()


def test_the_file_says_no_more_than_was_said(command, here):
    command("batch", "--prompt", "a", "-o", "out", "--save-job", "job.json")
    assert json.loads((here / "job.json").read_text()) == {
        "version": 1,
        "prompts": {"list": ["a"]},
        "output": {"folder": "out"},
    }
    assert read_job(here / "job.json").output.folder == "out"
