"""The cells of a grid, and which of their images exist."""

import pytest

from mezzotint.batch.job.job import JobFile, JobOutput, Prompts
from mezzotint.batch.manifest.record import Record, line_of
from mezzotint.batch.sheet.cells import Axis, grid_of
from mezzotint.batch.tasks.tasks import BatchTask, tasks_of
from mezzotint.errors import UsageError
from mezzotint.options import Options


def job(*prompts, settings=None, **matrix):
    return JobFile(
        settings=settings or Options(seed=1),
        prompts=Prompts(list=prompts or ("a",)),
        matrix=tuple((name, tuple(values)) for name, values in matrix.items()),
        output=JobOutput(folder="out", grid=True),
    )


def record(task, **changes):
    return Record(**{"key": task.key, "status": "done", "output": task.output} | changes)


def write(folder, *records):
    (folder / "out").mkdir()
    (folder / "out" / "mezzotint-manifest.jsonl").write_bytes(b"".join(map(line_of, records)))


def tasks(said, folder):
    return [item for item in tasks_of(said, base=folder) if isinstance(item, BatchTask)]


def test_the_matrix_comes_first_then_the_prompts(tmp_path):
    said = job("a", "b", steps=(1, 2, 3), guidance=(1.5, 4.0))
    write(tmp_path, *map(record, tasks(said, tmp_path)))
    grid = grid_of(said, tmp_path)
    steps, guidance = Axis(name="steps", labels=("1", "2", "3")), Axis(name="guidance", labels=("1.5", "4"))
    assert grid.axes == (steps, guidance, Axis(name="prompt", labels=("a", "b")))
    names = {place: name.partition("-")[0] + name.partition("steps")[2] for place, name in grid.files.items()}
    assert len(names) == 12
    assert names[0, 0, 0] == "0001-1_guidance-1.5.png" and names[2, 1, 1] == "0002-3_guidance-4.0.png"


def test_alternatives_are_an_axis(tmp_path):
    said = job("a {red|blue} house", fast=(False, True))
    write(tmp_path)
    fast, prompts = Axis(name="fast", labels=("false", "true")), Axis(name="prompt", labels=tuple(PROMPTS))
    assert grid_of(said, tmp_path).axes == (fast, prompts, Axis())
    with pytest.raises(UsageError, match="8 images by steps, guidance, seed, prompt do not fit"):
        grid_of(job("{a|b}", settings=Options(), steps=(1, 2), guidance=(1.0, 2.0), seed=(1,)), tmp_path)


PROMPTS = ("a red house", "a blue house")


def test_only_images_that_were_made_in_the_folder_are_in_it(tmp_path):
    said = job(model=("/a/x", "y", "z", "v"))
    of = tasks(said, tmp_path)
    changes = ({"output": "renamed-1.png"}, {"status": "failed"}, {"output": "../secret.png"}, {"kind": "exists"})
    write(tmp_path, *(record(task, **change) for task, change in zip(of, changes, strict=True)))
    grid = grid_of(said, tmp_path)
    assert grid.files == {(0, 0, 0): "renamed-1.png", (3, 0, 0): of[3].output}
    assert grid.axes[0].labels == ("x", "y", "z", "v")
