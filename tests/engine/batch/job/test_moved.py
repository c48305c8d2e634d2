"""Jobs that are written into another folder than they were said in."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.job.moved import moved
from mezzotint.batch.job.reading import read_job
from mezzotint.batch.job.writing import write_job
from mezzotint.batch.tasks.tasks import tasks_of
from mezzotint.errors import UsageError
from mezzotint.options import Options
from mezzotint.protocol import ControlRef, GenerateRequest, ImageInput, LoraRef, Output
from mezzotint.values.regions import RegionRef


@pytest.fixture
def here(tmp_path):
    """A folder with all that a job may name."""
    for name in ("photos/below", "masks/below", "wild"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("photos/a.png", "photos/below/b.png", "masks/a.png", "masks/below/b.png", "init.png"):
        Image.linear_gradient("L").convert("RGB").resize((64, 64)).save(tmp_path / name)
    (tmp_path / "wild" / "hour.txt").write_text("dawn\nnoon\n")
    (tmp_path / "words.txt").write_text("a house at __hour__\na boat\n")
    (tmp_path / "scenes.csv").write_text("colour,steps\nred,4\nblue,5\n")
    (tmp_path / "mine.safetensors").write_bytes(b"")
    return tmp_path


JOBS = [
    JobFile(prompts=Prompts(file="words.txt", wildcards="wild", table="scenes.csv", template="a {colour} barn")),
    JobFile(prompts=Prompts(list=("snow",)), input=InputFolder(folder="photos", recursive=True)),
    JobFile(prompts=Prompts(list=("a door",)), input=InputFolder(folder="photos", recursive=True, masks="masks")),
    JobFile(prompts=Prompts(list=("a",)), settings=Options(init="init.png", strength=0.5, model="starter-xl")),
    JobFile(
        prompts=Prompts(list=("a",)),
        settings=Options(region=(RegionRef(mask="init.png", prompt="b"),)),
        matrix=(("lora", ("mine.safetensors:0.5", "mine.safetensors:1.0")),),
    ),
    JobFile(
        prompts=Prompts(list=("a",)),
        settings=Options(control=(ControlRef(image="init.png", model="mine.safetensors"),)),
    ),
    JobFile(requests=(GenerateRequest(prompt="a", seed=3, images=(ImageInput(path="init.png"),), strength=0.5),)),
]


def made(job, base):
    """What a job makes, but for the key, which names files as they were written."""
    return [replace(task, key="", settings_hash="") for task in tasks_of(job, base=base)]


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("name", ["job.toml", "job.json"])
def test_a_job_saved_elsewhere_makes_the_same(job, name, here, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    job = replace(job, output=JobOutput(folder="out"))
    write_job(moved(job, here, other), other / name)
    there = read_job(other / name)
    tasks = made(there, other)
    assert tasks and tasks == made(job, here)
    assert all(task.request.output.path.startswith(str(here / "out")) for task in tasks)


def test_a_job_that_stays_is_as_it_was(here):
    assert moved(JOBS[1], here, Path(str(here))) is JOBS[1]


def test_models_and_loras_that_are_files_are_found_from_there(here):
    job = JobFile(
        prompts=Prompts(list=("a",)),
        settings=Options(model="mine.safetensors", refiner="starter-xl", lora=(LoraRef(path="l.safetensors"),)),
        matrix=(("weights", ("w.gguf",)), ("model", ("starter-dit", "./mine.safetensors")), ("steps", (4,))),
    )
    said = moved(job, here, here / "wild")
    whole = str(here / "mine.safetensors")
    assert (said.settings.model, said.settings.refiner) == (whole, "starter-xl")
    assert said.settings.lora == (LoraRef(path=str(here / "l.safetensors")),)
    assert dict(said.matrix) == {
        "weights": (str(here / "w.gguf"),),
        "model": ("starter-dit", whole),
        "steps": (4,),
    }


def test_a_table_that_names_files_stays_where_it_is(here):
    (here / "files.csv").write_text("prompt,init\na house,init.png\n")
    with pytest.raises(UsageError, match="in the column init"):
        moved(JobFile(prompts=Prompts(table="files.csv")), here, here / "wild")


def test_outputs_of_whole_requests_are_no_business_of_a_job(here):
    job = JobFile(requests=(GenerateRequest(prompt="a", seed=1, output=Output(path="x.png")),))
    assert moved(job, here, here / "wild").requests == job.requests
